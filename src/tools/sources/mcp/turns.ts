/** So many at the same time, the others in the order of their coming (MCP-10). */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Rejects with the signal's reason when it ends first. */
  async take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(come), 1);
        reject(signal.reason);
      };
      const come = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(come);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
