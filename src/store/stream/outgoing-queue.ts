import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";
import type { Delta } from "./stream-hub.ts";

type Waiting = {
  lines: string[];
  bytes: number;
  /** The number of deltas in the lines, and the first of them. */
  count: number;
  first: Delta | undefined;
  /** The first dropped delta, and the number of dropped ones. */
  dropped: { readonly first: Delta; count: number } | undefined;
  /** The last batch failed: the next attempt waits for the next delta. */
  rejected: boolean;
};

const NOTHING = { bytes: 0, count: 0, first: undefined, dropped: undefined, rejected: false };

export type Batch = {
  readonly session: string;
  readonly text: string;
  readonly bytes: number;
  readonly count: number;
  readonly first: Delta | undefined;
};

/** A bounded queue of deltas. Deltas beyond the limit are dropped, counted, and announced when there is space. */
export class OutgoingQueue {
  readonly #maxBytes: number;
  readonly #codec: LineCodec;
  readonly #waiting = new Map<string, Waiting>();
  /** The number of bytes that wait or are being written. */
  #bytes = 0;

  constructor(maxBytes: number, codec: LineCodec = PLAIN_LINES) {
    this.#maxBytes = maxBytes;
    this.#codec = codec;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether deltas of a session wait. */
  has(session: string): boolean {
    return this.#waiting.has(session);
  }

  add(delta: Delta): void {
    const waiting = this.#getWaiting(delta.session);
    waiting.rejected = false;
    if (!this.#announceDropped(waiting) || !this.#add(waiting, delta)) this.#drop(waiting, delta, 1);
  }

  /** Takes the waiting deltas of one session that may be written now. The caller then reports the outcome of the batch. */
  takeBatch(mayWrite: (session: string) => boolean): Batch | undefined {
    for (const session of this.#waiting.keys()) {
      const batch = mayWrite(session) ? this.takeBatchOf(session) : undefined;
      if (batch !== undefined) return batch;
    }
    return undefined;
  }

  takeBatchOf(session: string): Batch | undefined {
    const waiting = this.#waiting.get(session);
    if (waiting === undefined || waiting.rejected) return undefined;
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

  /** Drops the deltas of a failed batch. They are announced with a later delta of the session. */
  markDropped({ session, bytes, count, first }: Batch): void {
    this.#bytes -= bytes;
    if (first === undefined) return;
    const waiting = this.#getWaiting(session);
    waiting.rejected = waiting.lines.length === 0;
    if (waiting.rejected) this.#drop(waiting, first, count);
    // The dropped deltas precede the waiting ones.
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

  /** Announces dropped deltas. Returns whether none are left to announce. */
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
