/** More in one second are no conversation: a worker that read on would do nothing else. */
export const MAX_MESSAGES_PER_SECOND = 5_000;

/** Counts messages of a server. */
export class MessageRateLimit {
  #windowStartMs = performance.now();
  #count = 0;

  /** @returns Whether these are still as many as one may send. */
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
