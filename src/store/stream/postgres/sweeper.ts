import type { Database } from "../../postgres/database.ts";
import { type CompletedRange, removeCompleted, removeOld } from "./delta-rows.ts";

/** Who watches live has seen it by then. */
const SWEEP_MS = 1_000;
/** Watchers that were cut off for a moment are still to hear that something was recorded. */
const ANNOUNCEMENT_RETENTION_MS = 60_000;
/** What a process has left that died before it could tidy up. */
const DELTA_RETENTION_MS = 24 * 60 * 60 * 1000;

/** Removes what is over, a little later and together. */
export class Sweeper {
  readonly #database: () => Promise<Database>;
  #completed: CompletedRange[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(database: () => Promise<Database>) {
    this.#database = database;
  }

  addCompleted(one: CompletedRange): void {
    this.#completed.push(one);
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
    const completed = keepNewest(this.#completed.splice(0));
    if (completed.length === 0) return;
    const nowMs = Date.now();
    try {
      const database = await this.#database();
      await database.write([], function* () {
        for (const one of completed) yield* removeCompleted(one);
        yield* removeOld(nowMs - ANNOUNCEMENT_RETENTION_MS, nowMs - DELTA_RETENTION_MS);
      });
    } catch {
      // The next announcement of the loop takes it along, and what is left then goes with its age.
    }
  }
}

/** The last word that all of a loop is over says what the earlier ones said. In an order that all processes share. */
function keepNewest(completed: readonly CompletedRange[]): readonly CompletedRange[] {
  const all = new Map<string, number>();
  for (const one of completed) if (one.over === "all") all.set(one.loopId, one.before);
  return completed
    .filter((one) => one.before >= (all.get(one.loopId) ?? 0))
    .sort((one, other) => one.before - other.before);
}
