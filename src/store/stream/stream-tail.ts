import { FolderWatcher } from "./folder-watcher.ts";
import type { LineCodec } from "./line-codec.ts";
import { readDeltasAfter, SegmentReader } from "./segment-reader.ts";
import { listSegments } from "./segments.ts";
import type { OffsetDelta } from "./stream-hub.ts";

/** The number of deltas in memory for watchers near the end. Slower watchers read the files. */
const RECENT_DELTAS = 2_000;
const RECENT_CHARS = 1_000_000;
/** The number of deltas in one page for slower watchers. */
const PAGE_DELTAS = 200;

/** The end of a session's stream, read once for all watchers of a process. */
export class StreamTail {
  readonly #folder: string;
  readonly #codec: LineCodec;
  readonly #watch: FolderWatcher;
  #reader: SegmentReader | undefined;
  /** All deltas after the offset `#after` that were read. */
  #recent: OffsetDelta[] = [];
  #after: number;
  #chars = 0;
  /** The last read that has started, and one that has not. */
  #reading: Promise<boolean> = Promise.resolve(false);
  #requestedReads: Promise<boolean> | undefined;

  constructor(folder: string, codec: LineCodec, from: number) {
    this.#folder = folder;
    this.#codec = codec;
    this.#after = from;
    this.#watch = new FolderWatcher(folder);
  }

  onChange(wake: () => void): () => void {
    return this.#watch.subscribe(wake);
  }

  /** Reads some of the deltas after an offset; empty at the end of what was read. */
  async readAfter(offset: number): Promise<readonly OffsetDelta[]> {
    if (offset >= this.#after) return this.#getRecentAfter(offset);
    const page: OffsetDelta[] = [];
    for await (const one of readDeltasAfter(this.#folder, this.#codec, offset)) {
      page.push(one);
      if (page.length === PAGE_DELTAS) break;
    }
    // The files have no more deltas: the earlier ones are completed and removed.
    return page.length > 0 ? page : this.#getRecentAfter(offset);
  }

  /** Checks whether deltas after the offset were read. */
  hasAfter(offset: number): boolean {
    return this.#getEnd() > offset && this.#recent.length > 0;
  }

  /**
   * Reads new deltas. One read serves all callers before its start, so that a caller after a change gets a later read.
   *
   * @returns Whether there were new deltas.
   */
  advance(): Promise<boolean> {
    this.#requestedReads ??= this.#reading
      .catch(() => false)
      .then(() => {
        this.#reading = this.#requestedReads ?? this.#reading;
        this.#requestedReads = undefined;
        return this.#readMore();
      });
    return this.#requestedReads;
  }

  async close(): Promise<void> {
    await (this.#requestedReads ?? this.#reading).catch(() => false);
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }

  #getRecentAfter(offset: number): readonly OffsetDelta[] {
    const { length } = this.#recent;
    let from = length;
    // Most callers are at the end, or close to it.
    while (from > 0 && (this.#recent[from - 1]?.offset ?? 0) > offset) from -= 1;
    return from === length ? [] : this.#recent.slice(from);
  }

  async #readMore(): Promise<boolean> {
    for (;;) {
      const reader = this.#reader ?? (await this.#open());
      if (reader === undefined) return false;
      const read = await reader.read();
      if (read.length > 0) {
        this.#addRecent(read);
        return true;
      }
      if (reader.next === undefined) {
        if (!(await reader.isDeleted())) return false;
        // The session was deleted.
        this.#after = this.#getEnd();
        this.#recent = [];
        this.#chars = 0;
      }
      if (!(await this.#openNext(reader))) return false;
    }
  }

  async #open(): Promise<SegmentReader | undefined> {
    const bases = await listSegments(this.#folder);
    const base = bases.findLast((one) => one <= this.#getEnd()) ?? bases[0];
    if (base === undefined) return undefined;
    this.#reader = await SegmentReader.open(this.#folder, base, this.#codec, this.#getEnd());
    return this.#reader;
  }

  /** @returns Whether there is a file after this one. */
  async #openNext(reader: SegmentReader): Promise<boolean> {
    const bases = await listSegments(this.#folder);
    const base = bases.find((one) => one > reader.base);
    if (base === undefined) return false;
    const next = await SegmentReader.open(this.#folder, base, this.#codec);
    if (next === undefined) return true;
    this.#reader = next;
    await reader.close();
    return true;
  }

  #getEnd(): number {
    return this.#recent.at(-1)?.offset ?? this.#after;
  }

  #addRecent(read: readonly OffsetDelta[]): void {
    for (const one of read) {
      this.#recent.push(one);
      this.#chars += countChars(one);
    }
    let out = 0;
    while (
      this.#recent.length - out > 1 &&
      (this.#recent.length - out > RECENT_DELTAS || this.#chars > RECENT_CHARS)
    ) {
      this.#chars -= countChars(this.#recent[out]!);
      out += 1;
    }
    if (out === 0) return;
    this.#after = this.#recent[out - 1]!.offset;
    this.#recent.splice(0, out);
  }
}

function countChars({ delta: { body } }: OffsetDelta): number {
  return "text" in body ? body.text.length : 0;
}
