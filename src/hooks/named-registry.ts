/** The functions that an application registers on its worker, by the names that definitions use (TMP-10). */
export class NamedRegistry<Value> {
  readonly #values: ReadonlyMap<string, Value>;
  /** The kind in error messages: "context transform". */
  readonly label: string;

  /** Throws when a name is empty, or already has a meaning. */
  constructor(what: string, values: Readonly<Record<string, Value>> = {}, taken: readonly string[] = []) {
    for (const name of Object.keys(values)) {
      if (name.trim() === "") throw new TypeError(`A ${what} must have a name`);
      if (taken.includes(name))
        throw new TypeError(`A ${what} cannot have the name "${name}", which is built in`);
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
