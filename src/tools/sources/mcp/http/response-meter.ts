/** Measures an answer while it is read: the length of a message, and whether its stream can be resumed. */
export class ResponseMeter {
  readonly #isStream: boolean;
  #bytes = 0;
  #line = "";
  #lineBytes = 0;
  #isResumable = false;
  #messages = 0;

  /** @param isStream - Server-sent events, one message each; otherwise the whole body is one message. */
  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  /** The length of the current message. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many messages are complete. */
  get messages(): number {
    return this.#messages;
  }

  /** An event had an id: the stream can be resumed after it. */
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
