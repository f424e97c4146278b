/** Numbers the cases of two runs by their ids, and knows which run has cells of which. */
export class CaseNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #hasCells = { a: new Set<number>(), b: new Set<number>() };

  /** Returns the number of a case, from 0. */
  admit(id: string, run: "a" | "b"): number {
    let number = this.#numbers.get(id);
    if (number === undefined) {
      number = this.#ids.push(id) - 1;
      this.#numbers.set(id, number);
    }
    this.#hasCells[run].add(number);
    return number;
  }

  readId(number: number): string {
    const id = this.#ids[number];
    if (id === undefined) throw new RangeError(`There is no case ${number}.`);
    return id;
  }

  /** Returns the numbers in the order of the ids, which does not depend on the order in which cells came. */
  listById(): readonly number[] {
    return this.#ids
      .map((id, number) => ({ id, number }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ number }) => number);
  }

  count(): { readonly both: number; readonly onlyA: number; readonly onlyB: number } {
    const { a, b } = this.#hasCells;
    const both = a.size + b.size - this.#ids.length;
    return { both, onlyA: a.size - both, onlyB: b.size - both };
  }
}
