const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Receives one line without its line break. `cut`: the line was longer. */
export type OnLine = (line: Buffer, cut: boolean) => void;

/** Splits a stream of bytes into lines. It buffers at most the first `maxLineBytes` of a line. */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #onLine: OnLine;
  #parts: Buffer[] = [];
  #bytes = 0;
  #hasStarted = false;
  #isCut = false;

  constructor(maxLineBytes: number, take: OnLine) {
    this.#maxLineBytes = maxLineBytes;
    this.#onLine = take;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(Buffer.from(chunk.subarray(start)));
  }

  /** Emits the text after the last line break as a line. */
  end(): void {
    if (this.#hasStarted) this.#finish();
  }

  #add(part: Buffer): void {
    this.#hasStarted = true;
    const stored = part.subarray(0, this.#maxLineBytes - this.#bytes);
    this.#isCut ||= stored.length < part.length;
    this.#bytes += stored.length;
    if (stored.length > 0) this.#parts.push(stored);
  }

  #finish(): void {
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const isCut = this.#isCut;
    this.#parts = [];
    this.#bytes = 0;
    this.#hasStarted = false;
    this.#isCut = false;
    this.#onLine(!isCut && line.at(-1) === RETURN ? line.subarray(0, -1) : line, isCut);
  }
}

/** Decodes a line. Bytes that are not UTF-8 become U+FFFD; a character that was cut is left out. */
export function decodeLine(line: Buffer, isCut: boolean): string {
  if (!isCut) return line.toString("utf8");
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return `${decoder.decode(line, { stream: true })}... (line truncated)`;
}
