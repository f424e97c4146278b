import type { PositionedDelta } from "./delta-rows.ts";

/** How much of the newest is at hand for watchers that keep up; who is slower reads by himself. */
const MAX_CACHED = 1000;

type Read = (behind: number, limit: number) => Promise<readonly PositionedDelta[]>;

/** The newest deltas of a session, read once for all watchers of this process. */
export class SessionTail {
  readonly #read: Read;
  readonly #page: number;
  #cached: PositionedDelta[] = [];
  /** Everything behind this place, as far as it was read, is at hand. */
  #cachedFrom: number;
  #reading: Promise<void> | undefined;
  #stale = true;
  /** How many use it. */
  watchers = 0;

  /** @param from - A place that everybody who will use it has come to, or beyond. */
  constructor(from: number, page: number, read: Read) {
    this.#cachedFrom = from;
    this.#page = page;
    this.#read = read;
  }

  /** There may be more than was read. */
  markStale(): void {
    this.#stale = true;
  }

  /** What comes behind a place, as far as one page goes; nothing where that is all there is now. */
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
