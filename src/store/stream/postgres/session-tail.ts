import type { Placed } from "./rows.ts";

/** How much of the newest is at hand for watchers that keep up; who is slower reads by himself. */
const MAX_AT_HAND = 1000;

type Read = (behind: number, limit: number) => Promise<readonly Placed[]>;

/** The newest deltas of a session, read once for all watchers of this process. */
export class SessionTail {
  readonly #read: Read;
  readonly #page: number;
  #atHand: Placed[] = [];
  /** Everything behind this place, as far as it was read, is at hand. */
  #begin: number;
  #reading: Promise<void> | undefined;
  #stale = true;
  /** How many use it. */
  watchers = 0;

  /** @param from - A place that everybody who will use it has come to, or beyond. */
  constructor(from: number, page: number, read: Read) {
    this.#begin = from;
    this.#page = page;
    this.#read = read;
  }

  /** There may be more than was read. */
  change(): void {
    this.#stale = true;
  }

  /** What comes behind a place, as far as one page goes; nothing where that is all there is now. */
  async behind(place: number): Promise<readonly Placed[]> {
    if (place < this.#begin) return this.#read(place, this.#page);
    const known = this.#known(place);
    if (known.length > 0) return known;
    while (this.#stale || this.#reading !== undefined) {
      this.#reading ??= this.#readOn();
      await this.#reading;
      if (place < this.#begin) return this.#read(place, this.#page);
      const found = this.#known(place);
      if (found.length > 0) return found;
    }
    return [];
  }

  #known(place: number): readonly Placed[] {
    const end = this.#atHand.at(-1)?.offset ?? this.#begin;
    return end <= place ? [] : this.#atHand.filter(({ offset }) => offset > place);
  }

  async #readOn(): Promise<void> {
    this.#stale = false;
    try {
      const from = this.#atHand.at(-1)?.offset ?? this.#begin;
      const page = await this.#read(from, this.#page);
      this.#atHand.push(...page);
      if (page.length === this.#page) this.#stale = true;
      const surplus = this.#atHand.length - MAX_AT_HAND;
      if (surplus > 0) {
        this.#begin = this.#atHand[surplus - 1]!.offset;
        this.#atHand = this.#atHand.slice(surplus);
      }
    } catch (error) {
      this.#stale = true;
      throw error;
    } finally {
      this.#reading = undefined;
    }
  }
}
