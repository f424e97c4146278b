/** Items of several sources, taken one by one in the order of their arrival. */
export class AsyncQueue<T> {
  readonly #waiting: { readonly thing: T; readonly taken?: () => void }[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  push(thing: T): void {
    this.#add({ thing });
  }

  /** Resolves when the item is taken, so that a fast producer waits for the consumer. */
  pushAndWait(thing: T): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((onTaken) => this.#add({ thing, taken: onTaken }));
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

  /** Ends the queue: nobody takes items any more. */
  close(): void {
    this.#closed = true;
    for (const { taken } of this.#waiting.splice(0)) taken?.();
  }

  #add(one: { readonly thing: T; readonly taken?: () => void }): void {
    this.#waiting.push(one);
    this.#wake?.();
  }
}
