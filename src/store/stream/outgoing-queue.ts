import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";
import type { Delta } from "./stream-hub.ts";

type Waiting = {
  lines: string[];
  bytes: number;
  /** Deltas that the lines stand for, and the first of them. */
  count: number;
  first: Delta | undefined;
  /** The first of those that were left out, and how many there were. */
  dropped: { readonly first: Delta; count: number } | undefined;
  /** The file refused the last batch: nothing is tried before the next delta. */
  refused: boolean;
};

const NOTHING = { bytes: 0, count: 0, first: undefined, dropped: undefined, refused: false };

export type Batch = {
  readonly session: string;
  readonly text: string;
  readonly bytes: number;
  readonly count: number;
  readonly first: Delta | undefined;
};

/** Deltas on their way to the files, within a bound. What is over it is counted, and told once there is room. */
export class OutgoingQueue {
  readonly #maxBytes: number;
  readonly #codec: LineCodec;
  readonly #waiting = new Map<string, Waiting>();
  /** Bytes that wait or are being written. */
  #bytes = 0;

  constructor(maxBytes: number, codec: LineCodec = PLAIN_LINES) {
    this.#maxBytes = maxBytes;
    this.#codec = codec;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(delta: Delta): void {
    const waiting = this.#getWaiting(delta.session);
    waiting.refused = false;
    if (!this.#announceDropped(waiting) || !this.#add(waiting, delta)) this.#drop(waiting, delta, 1);
  }

  /** Takes what waits for one of the sessions that may be written now; give it back with `written` or `lost`. */
  takeBatch(mayWrite: (session: string) => boolean): Batch | undefined {
    for (const session of this.#waiting.keys()) {
      const batch = mayWrite(session) ? this.takeBatchOf(session) : undefined;
      if (batch !== undefined) return batch;
    }
    return undefined;
  }

  takeBatchOf(session: string): Batch | undefined {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined || waiting.refused) return undefined;
    this.#announceDropped(waiting);
    const { lines, bytes, count, first, dropped } = waiting;
    if (lines.length === 0) return undefined;
    if (dropped === undefined) this.#waiting.delete(session);
    else this.#waiting.set(session, { ...NOTHING, lines: [], dropped });
    return { session, text: lines.join(""), bytes, count, first };
  }

  confirmWritten(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** The file did not take a batch: its deltas are dropped. Told when a later delta of the session goes out. */
  markDropped({ session, bytes, count, first }: Batch): void {
    this.#bytes -= bytes;
    if (first === undefined) return;
    const waiting = this.#getWaiting(session);
    waiting.refused = waiting.lines.length === 0;
    if (waiting.refused) this.#drop(waiting, first, count);
    // It is missing before what waits by now.
    else
      this.#put(
        waiting,
        this.#encodeLine({ ...first, body: { type: "dropped", count } }),
        first,
        count,
        true,
      );
  }

  deleteSession(session: string): void {
    const waiting = this.#waiting.get(session);
    this.#bytes -= waiting?.bytes ?? 0;
    this.#waiting.delete(session);
  }

  #getWaiting(session: string): Waiting {
    const known = this.#waiting.get(session);
    if (known !== undefined) return known;
    const fresh = { ...NOTHING, lines: [] };
    this.#waiting.set(session, fresh);
    return fresh;
  }

  #drop(waiting: Waiting, first: Delta, count: number): void {
    waiting.dropped ??= { first, count: 0 };
    waiting.dropped.count += count;
  }

  /** Whether there is nothing left untold. */
  #announceDropped(waiting: Waiting): boolean {
    if (waiting.dropped === undefined) return true;
    const { first, count } = waiting.dropped;
    if (!this.#add(waiting, { ...first, body: { type: "dropped", count } })) return false;
    waiting.dropped = undefined;
    return true;
  }

  #add(waiting: Waiting, delta: Delta): boolean {
    const line = this.#encodeLine(delta);
    if (this.#bytes + Buffer.byteLength(line) > this.#maxBytes) return false;
    this.#put(waiting, line, delta, delta.body.type === "dropped" ? delta.body.count : 1, false);
    return true;
  }

  #put(waiting: Waiting, line: string, delta: Delta, count: number, isFirst: boolean): void {
    const bytes = Buffer.byteLength(line);
    if (isFirst) waiting.lines.unshift(line);
    else waiting.lines.push(line);
    if (isFirst || waiting.first === undefined) waiting.first = delta;
    waiting.bytes += bytes;
    waiting.count += count;
    this.#bytes += bytes;
  }

  #encodeLine(delta: Delta): string {
    return `${this.#codec.encode(JSON.stringify(delta))}\n`;
  }
}
