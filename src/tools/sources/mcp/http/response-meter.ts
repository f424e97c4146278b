/** Reads along with an answer's bytes: how long a message grows, and whether its stream can be taken up again. */
export class ResponseMeter {
  readonly #isStream: boolean;
  #bytes = 0;
  #line = "";
  #lineBytes = 0;
  #isResumable = false;
  #messages = 0;

  /** @param isStream - Server-sent events, one message each; else the whole body is one. */
  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  /** Of the message that is under way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many have come to their end. */
  get messages(): number {
    return this.#messages;
  }

  /** An event had an id: what comes after it can be asked for anew. */
  get isResumable(): boolean {
    return this.#isResumable;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (!this.#isStream) return;
    for (const byte of chunk) {
      if (byte === 13) continue;
      if (byte !== 10) {
        if (this.#lineBytes < 3) this.#line += String.fromCharCode(byte);
        this.#lineBytes += 1;
        continue;
      }
      if (this.#lineBytes === 0) {
        this.#bytes = 0;
        this.#messages += 1;
      }
      if (this.#line === "id:") this.#isResumable = true;
      this.#line = "";
      this.#lineBytes = 0;
    }
  }
}
