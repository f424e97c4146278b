/** Things from several sources, taken one by one in the order in which they came. */
export class Mailbox<T> {
  readonly #waiting: T[] = [];
  #wake: (() => void) | undefined;

  post(thing: T): void {
    this.#waiting.push(thing);
    this.#wake?.();
  }

  async take(): Promise<T> {
    while (this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#waiting.shift() as T;
  }
}
