/** Two sides that meet under a name, whoever comes first: one waits for an answer, the other for its coming. */
export class Meetings<Name, Answer> {
  readonly #waiting: { name: Name; resolve: (answer: Answer) => void }[] = [];
  readonly #comers: { name: Name; resolve: () => void }[] = [];

  wait(name: Name): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push({ name, resolve });
      for (const comer of this.#comers.filter((one) => one.name === name)) {
        this.#comers.splice(this.#comers.indexOf(comer), 1);
        comer.resolve();
      }
    });
  }

  come(name: Name): Promise<void> {
    if (this.#waiting.some((one) => one.name === name)) return Promise.resolve();
    return new Promise((resolve) => void this.#comers.push({ name, resolve }));
  }

  answer(name: Name, answer: Answer): void {
    const at = this.#waiting.findIndex((one) => one.name === name);
    const [found] = at === -1 ? [] : this.#waiting.splice(at, 1);
    if (found === undefined) throw new Error(`Nobody waits for ${String(name)}`);
    found.resolve(answer);
  }
}
