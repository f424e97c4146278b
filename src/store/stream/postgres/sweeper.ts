import type { Database } from "../../postgres/database.ts";
import { type Over, remove, removeOld } from "./rows.ts";

/** Who watches live has seen it by then. */
const SWEEP_MS = 1_000;
/** Watchers that were cut off for a moment are still to hear that something was recorded. */
const ANNOUNCED_MS = 60_000;
/** What a process has left that died before it could tidy up. */
const LEFT_MS = 24 * 60 * 60 * 1000;

/** Removes what is over, a little later and together. */
export class Sweeper {
  readonly #database: () => Promise<Database>;
  #over: Over[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(database: () => Promise<Database>) {
    this.#database = database;
  }

  over(one: Over): void {
    this.#over.push(one);
    this.#timer ??= setTimeout(() => {
      this.#sweeping = this.#sweep();
    }, SWEEP_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sweeping;
    await this.#sweep();
  }

  async #sweep(): Promise<void> {
    this.#timer = undefined;
    const over = newestOnly(this.#over.splice(0));
    if (over.length === 0) return;
    const nowMs = Date.now();
    try {
      const database = await this.#database();
      await database.write([], function* () {
        for (const one of over) yield* remove(one);
        yield* removeOld(nowMs - ANNOUNCED_MS, nowMs - LEFT_MS);
      });
    } catch {
      // The next announcement of the loop takes it along, and what is left then goes with its age.
    }
  }
}

/** The last word that all of a loop is over says what the earlier ones said. In an order that all processes share. */
function newestOnly(over: readonly Over[]): readonly Over[] {
  const all = new Map<string, number>();
  for (const one of over) if (one.over === "all") all.set(one.loopId, one.before);
  return over
    .filter((one) => one.before >= (all.get(one.loopId) ?? 0))
    .sort((one, other) => one.before - other.before);
}
