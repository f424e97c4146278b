import type { Database } from "../../postgres/database.ts";
import { type CompletedRange, removeCompleted, removeOld } from "./delta-rows.ts";

/** The delay of removal, after which live watchers have seen the deltas. */
const SWEEP_MS = 1_000;
/** Announcements are retained for watchers that were briefly disconnected. */
const ANNOUNCEMENT_RETENTION_MS = 60_000;
/** The age at which the deltas of dead processes are removed. */
const DELTA_RETENTION_MS = 24 * 60 * 60 * 1000;

/** Removes completed deltas, after a delay and in batches. */
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
      // The next announcement of the loop includes these deltas; the rest are removed by age.
    }
  }
}

/** Leaves out what a later range of the same loop includes. All processes use the same order, so that they wait for each other. */
function keepNewest(completed: readonly CompletedRange[]): readonly CompletedRange[] {
  const lastOfAll = new Map<string, number>();
  for (const [index, one] of completed.entries())
    if (one.completed === "all") lastOfAll.set(one.loopId, index);
  return completed
    .filter(({ loopId }, index) => index >= (lastOfAll.get(loopId) ?? 0))
    .sort((one, other) => (one.loopId < other.loopId ? -1 : one.loopId > other.loopId ? 1 : 0));
}
