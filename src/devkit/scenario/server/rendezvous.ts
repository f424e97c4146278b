/** Matches two sides by name, in either order of arrival: one waits for an answer, the other waits for that side. */
export class Rendezvous<Name, Answer> {
  readonly #waiting: { name: Name; resolve: (answer: Answer) => void }[] = [];
  readonly #answerers: { name: Name; resolve: () => void }[] = [];

  wait(name: Name): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ name, resolve });
      for (const comer of this.#answerers.filter((one) => one.name === name)) {
        this.#answerers.splice(this.#answerers.indexOf(comer), 1);
        comer.resolve();
      }
    });
  }

  waitForWaiter(name: Name): Promise<void> {
    if (this.#waiting.some((one) => one.name === name)) return Promise.resolve();
    return new Promise((resolve) => void this.#answerers.push({ name, resolve }));
  }

  answer(name: Name, answer: Answer): void {
    const at = this.#waiting.findIndex((one) => one.name === name);
    const [found] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (found === undefined) throw new Error(`No one waits for ${String(name)}`);
    found.resolve(answer);
  }
}
