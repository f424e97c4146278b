/** Times polls beside a wait for something else: soon after the last reset, then less and less often. */
export class PollTimer {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #afterMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#afterMs = firstMs;
  }

  reset(): void {
    this.stop();
    this.#afterMs = this.#firstMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Returns the result of the promise; nothing when it is time to poll. */
  async race<T>(promise: Promise<T>): Promise<T | undefined> {
    const timeout = new Promise<undefined>((resolve) => {
      this.#timer = setTimeout(() => resolve(undefined), this.#afterMs);
    });
    const result = await Promise.race([promise, timeout]);
    this.stop();
    if (result === undefined) this.#afterMs = Math.min(this.#maxMs, this.#afterMs * 2);
    return result;
  }
}
