import type { PositionedDelta } from "./delta-rows.ts";

/** The number of newest deltas in memory. Slower watchers read the database themselves. */
const MAX_CACHED = 1000;

type Read = (after: number, limit: number) => Promise<readonly PositionedDelta[]>;

/** The newest deltas of a session, read once for all watchers of this process. */
export class SessionTail {
  readonly #read: Read;
  readonly #page: number;
  #cached: PositionedDelta[] = [];
  /** All deltas after this position that were read are in memory. */
  #cachedFrom: number;
  #reading: Promise<void> | undefined;
  #stale = true;
  /** The number of watchers. */
  watchers = 0;

  /** @param from - A position that all watchers have reached or passed. */
  constructor(from: number, page: number, read: Read) {
    this.#cachedFrom = from;
    this.#page = page;
    this.#read = read;
  }

  /** Records that there may be new deltas. */
  markStale(): void {
    this.#stale = true;
  }

  /** Reads one page after a position; empty if there are no more deltas. */
  async readAfter(position: number): Promise<readonly PositionedDelta[]> {
    if (position < this.#cachedFrom) return this.#read(position, this.#page);
    const known = this.#getCached(position);
    if (known.length > 0) return known;
    while (this.#stale || this.#reading !== undefined) {
      this.#reading ??= this.#readMore();
      await this.#reading;
      if (position < this.#cachedFrom) return this.#read(position, this.#page);
      const found = this.#getCached(position);
      if (found.length > 0) return found;
    }
    return [];
  }

  #getCached(position: number): readonly PositionedDelta[] {
    const end = this.#cached.at(-1)?.offset ?? this.#cachedFrom;
    return end <= position ? [] : this.#cached.filter(({ offset }) => offset > position);
  }

  async #readMore(): Promise<void> {
    this.#stale = false;
    try {
      const from = this.#cached.at(-1)?.offset ?? this.#cachedFrom;
      const page = await this.#read(from, this.#page);
      this.#cached.push(...page);
      if (page.length === this.#page) this.#stale = true;
      const surplus = this.#cached.length - MAX_CACHED;
      if (surplus > 0) {
        this.#cachedFrom = this.#cached[surplus - 1]!.offset;
        this.#cached = this.#cached.slice(surplus);
      }
    } catch (error) {
      this.#stale = true;
      throw error;
    } finally {
      this.#reading = undefined;
    }
  }
}
