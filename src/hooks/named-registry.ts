/** What an application registers on its worker, by the names under which definitions use it (TMP-10). */
export class NamedRegistry<Value> {
  readonly #values: ReadonlyMap<string, Value>;
  /** As errors say it: "context transform". */
  readonly label: string;

  /** Throws when a name is empty, or one of those that mean something already. */
  constructor(what: string, values: Readonly<Record<string, Value>> = {}, taken: readonly string[] = []) {
    for (const name of Object.keys(values)) {
      if (name.trim() === "") throw new TypeError(`A ${what} needs a name`);
      if (taken.includes(name))
        throw new TypeError(`A ${what} cannot be called "${name}": that one is built in`);
    }
    this.label = what;
    this.#values = new Map(Object.entries(values));
  }

  get names(): readonly string[] {
    return [...this.#values.keys()].sort();
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }
}
