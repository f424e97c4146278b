/** Cuts a stream of bytes into lines. Whoever writes a line that is too long is not listened to any more. */
export class Lines {
  readonly #maxBytes: number;
  readonly #take: (line: string) => void;
  readonly #tooLong: () => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  #deaf = false;

  constructor(maxBytes: number, take: (line: string) => void, tooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#take = take;
    this.#tooLong = tooLong;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.#deaf; end = rest.indexOf(10)) {
      if (!this.#keep(rest.subarray(0, end))) return;
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#take(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    if (!this.#deaf && rest.length > 0) this.#keep(rest);
  }

  #keep(part: Buffer): boolean {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) return true;
    this.#deaf = true;
    this.#parts = [];
    this.#tooLong();
    return false;
  }
}
