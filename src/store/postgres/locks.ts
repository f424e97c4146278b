import { createHash } from "node:crypto";

/**
 * The number of an advisory lock. They are one space for a whole database, so that the schema is part of the name; two
 * names that share a number only wait for each other.
 */
export function hashLockNumber(schema: string, name: string): string {
  return createHash("sha256")
    .update(`holdfast\0${schema}\0${name}`, "utf8")
    .digest()
    .readBigInt64BE()
    .toString();
}

/** Lets those who name the same thing go one after the other, in order, before they take a connection. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** @param names - Sorted, so that nobody waits for one who waits for him. */
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
