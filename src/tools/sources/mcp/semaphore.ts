/** Limits concurrent work. Waiting calls run in the order of their arrival (MCP-10). */
export class Semaphore {
  #permits: number;
  readonly #waiters: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#permits = atOnce;
  }

  /** Rejects with the signal's reason if the signal aborts first. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#acquire(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiters.shift();
      if (next === undefined) this.#permits += 1;
      else next();
    }
  }

  #acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#permits > 0) {
      this.#permits -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiters.splice(this.#waiters.indexOf(grant), 1);
        reject(signal.reason);
      };
      const grant = () => {
        signal.removeEventListener("abort", cancel);
        resolve();
      };
      this.#waiters.push(grant);
      signal.addEventListener("abort", cancel, { once: true });
    });
  }
}
