import type { Delta } from "./stream.ts";

type Waiting = {
  lines: string[];
  bytes: number;
  /** The first of those that were left out, and how many there were. */
  dropped: { readonly first: Delta; count: number } | undefined;
  /** The file refused the last batch: nothing is tried before the next delta. */
  refused: boolean;
};

/** Deltas on their way to the files, within a bound. What is over it is counted, and told once there is room. */
export class Outgoing {
  readonly #maxBytes: number;
  readonly #waiting = new Map<string, Waiting>();
  /** Bytes that wait or are being written. */
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  put(delta: Delta): void {
    const waiting = this.#of(delta.session);
    waiting.refused = false;
    if (!this.#tellDropped(waiting) || !this.#add(waiting, delta)) this.#drop(waiting, delta, 1);
  }

  /** Takes what waits for one of the sessions that may be written now; give it back with `written` or `lost`. */
  take(
    mayWrite: (session: string) => boolean,
  ): { session: string; text: string; bytes: number; count: number } | undefined {
    for (const [session, waiting] of this.#waiting) {
      if (waiting.refused || !mayWrite(session)) continue;
      this.#tellDropped(waiting);
      if (waiting.lines.length === 0) continue;
      const batch = {
        session,
        text: waiting.lines.join(""),
        bytes: waiting.bytes,
        count: waiting.lines.length,
      };
      waiting.lines = [];
      waiting.bytes = 0;
      if (waiting.dropped === undefined) this.#waiting.delete(session);
      return batch;
    }
    return undefined;
  }

  written(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** The file did not take a batch: its deltas are dropped. Told when a later delta of the session goes out. */
  lost(batch: { session: string; bytes: number; count: number; text: string }): void {
    this.#bytes -= batch.bytes;
    const first = JSON.parse(batch.text.slice(0, batch.text.indexOf("\n"))) as Delta;
    const untold = first.body.type === "dropped" ? first.body.count - 1 : 0;
    const waiting = this.#of(batch.session);
    waiting.refused = waiting.lines.length === 0;
    this.#drop(waiting, first, batch.count + untold);
  }

  forget(session: string): void {
    const waiting = this.#waiting.get(session);
    this.#bytes -= waiting?.bytes ?? 0;
    this.#waiting.delete(session);
  }

  #of(session: string): Waiting {
    const known = this.#waiting.get(session);
    if (known !== undefined) return known;
    const fresh: Waiting = { lines: [], bytes: 0, dropped: undefined, refused: false };
    this.#waiting.set(session, fresh);
    return fresh;
  }

  #drop(waiting: Waiting, first: Delta, count: number): void {
    waiting.dropped ??= { first, count: 0 };
    waiting.dropped.count += count;
  }

  /** Whether there is nothing left untold. */
  #tellDropped(waiting: Waiting): boolean {
    if (waiting.dropped === undefined) return true;
    const { first, count } = waiting.dropped;
    if (!this.#add(waiting, { ...first, body: { type: "dropped", count } })) return false;
    waiting.dropped = undefined;
    return true;
  }

  #add(waiting: Waiting, delta: Delta): boolean {
    const line = `${JSON.stringify(delta)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#maxBytes) return false;
    waiting.lines.push(line);
    waiting.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }
}
