import { createHash } from "node:crypto";

/**
 * Returns the number of an advisory lock. All locks of a database share one number space, so the schema is part of the
 * name. Two names with the same number only wait for each other.
 */
export function hashLockNumber(schema: string, name: string): string {
  return createHash("sha256")
    .update(`holdfast\0${schema}\0${name}`, "utf8")
    .digest()
    .readBigInt64BE()
    .toString();
}

/** Returns the numbers of the locks of these names, each once and sorted. */
export function listLockNumbers(schema: string, names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => hashLockNumber(schema, `of ${name}`)))].sort();
}

/** Serialises operations with the same name, in order, before they take a connection. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** @param names - Sorted, which prevents deadlocks. */
  async runExclusive<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const ends: (() => void)[] = [];
    try {
      for (const name of names) {
        const before = this.#last.get(name);
        let end = (): void => undefined;
        const own = new Promise<void>((resolve) => {
          end = resolve;
        });
        this.#last.set(name, own);
        ends.push(() => {
          if (this.#last.get(name) === own) this.#last.delete(name);
          end();
        });
        await before;
      }
      return await work();
    } finally {
      for (const end of ends) end();
    }
  }
}
