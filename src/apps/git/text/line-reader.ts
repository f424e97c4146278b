/**
 * Splits bytes into lines, with a bound on the memory for one: the rest of a longer line is dropped, and the line is marked
 * as cut.
 */
export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: string, isCut: boolean) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: string, isCut: boolean) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, end));
      this.#emit();
      from = end + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** Emits the last line if no line feed ends it. */
  end(): void {
    if (this.#bytes > 0) this.#emit();
  }

  #add(part: Buffer): void {
    const left = this.#maxBytes - this.#bytes;
    // A copy: the part would keep its whole chunk in memory.
    if (left > 0 && part.length > 0) this.#parts.push(Buffer.from(part.subarray(0, left)));
    this.#bytes += part.length;
  }

  #emit(): void {
    const line = Buffer.concat(this.#parts).toString("utf8");
    const isCut = this.#bytes > this.#maxBytes;
    this.#parts = [];
    this.#bytes = 0;
    this.#onLine(line, isCut);
  }
}
