/** Things from several sources, taken one by one in the order in which they came. */
export class Mailbox<T> {
  readonly #waiting: { readonly thing: T; readonly taken?: () => void }[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  post(thing: T): void {
    this.#put({ thing });
  }

  /** Resolves when the thing is taken, so that who has many waits for who takes them. */
  hand(thing: T): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((taken) => this.#put({ thing, taken }));
  }

  async take(): Promise<T> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        next.taken?.();
        return next.thing;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Nobody takes anything any more. */
  close(): void {
    this.#closed = true;
    for (const { taken } of this.#waiting.splice(0)) taken?.();
  }

  #put(one: { readonly thing: T; readonly taken?: () => void }): void {
    this.#waiting.push(one);
    this.#wake?.();
  }
}
