/** A higher rate would occupy the worker completely with reading. */
export const MAX_MESSAGES_PER_SECOND = 5_000;

/** Counts the messages of a server. */
export class MessageRateLimit {
  #windowStartMs = performance.now();
  #count = 0;

  /** @returns Whether the rate is still within the limit. */
  take(messages: number): boolean {
    const now = performance.now();
    if (now - this.#windowStartMs >= 1000) {
      this.#windowStartMs = now;
      this.#count = 0;
    }
    this.#count += messages;
    return this.#count <= MAX_MESSAGES_PER_SECOND;
  }
}
