/** Collects the first bytes of a stream as text, for any content and any division into chunks. */
export class BoundedOutput {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #text = "";
  #bytes = 0;
  #isTruncated = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get text(): string {
    return this.#text;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  /** Returns the text that the chunk adds. Bytes that are not UTF-8 become U+FFFD. */
  push(chunk: Buffer): string {
    if (this.#isTruncated) return "";
    const stored = chunk.subarray(0, this.#maxBytes - this.#bytes);
    this.#bytes += stored.length;
    this.#isTruncated = stored.length < chunk.length;
    return this.#add(this.#decoder.decode(stored, { stream: true }));
  }

  /** Ends the text. A character that the limit cuts is left out; one that the writer left unfinished becomes U+FFFD. */
  end(): string {
    return this.#isTruncated ? "" : this.#add(this.#decoder.decode());
  }

  #add(text: string): string {
    this.#text += text;
    return text;
  }
}
