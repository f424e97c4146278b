/** Splits a stream of bytes into lines. After a line that is too long, further input is ignored. */
export class BoundedLineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isStopped = false;

  constructor(maxBytes: number, take: (line: string) => void, tooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = take;
    this.#onTooLong = tooLong;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.#isStopped; end = rest.indexOf(10)) {
      if (!this.#store(rest.subarray(0, end))) return;
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    if (!this.#isStopped && rest.length > 0) this.#store(rest);
  }

  #store(part: Buffer): boolean {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) return true;
    this.#isStopped = true;
    this.#parts = [];
    this.#onTooLong();
    return false;
  }
}
