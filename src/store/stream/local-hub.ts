import { join } from "node:path";
import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";
import { type Batch, Outgoing } from "./outgoing.ts";
import { Kept } from "./over.ts";
import { deltasBehind } from "./segment-reader.ts";
import { segmentsIn } from "./segments.ts";
import { sessionFolder } from "./session-folder.ts";
import { snapshotOf } from "./snapshot.ts";
import type { Delta, OffsetDelta, Snapshot, StreamHub, WatchOptions } from "./stream.ts";
import { removeFolder, sweep, tidy } from "./tidy.ts";
import { Watchers } from "./watchers.ts";
import { Writers } from "./writers.ts";

/** How long a delta waits for company where others came just before it, and how many bytes go out without waiting. */
const BATCH_MS = 20;
const BATCH_BYTES = 64 * 1024;
/** Bytes that may wait for the files. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Files that are written at the same time: the thread pool has four threads for everything. */
const AT_ONCE = 2;
/** How long what is over stays, so that who watches reads the word of it, and removing costs a fast run little. */
const TIDY_MS = 250;
const SWEEP_MS = 24 * 60 * 60 * 1000;

export type LocalHubOptions = {
  /** Bound of what waits for the files; beyond it deltas are dropped. */
  readonly maxWaitingBytes?: number;
  /** How a delta lies in the files. */
  readonly codec?: LineCodec;
};

/**
 * Live output on one machine: files of lines for each session under `{dir}/live`, appended to by any process (see
 * `segments.ts`). An offset is the place in bytes behind a delta's line.
 */
export class LocalHub implements StreamHub {
  readonly #live: string;
  readonly #codec: LineCodec;
  readonly #outgoing: Outgoing;
  readonly #writers = new Writers((session) => sessionFolder(this.#live, session));
  readonly #watchers: Watchers;
  /** Sessions whose files are being written, tidied up or removed. */
  readonly #busy = new Map<string, Promise<void>>();
  /** Sessions of which something is over. */
  readonly #untidy = new Set<string>();
  #tidying = false;
  #closed = false;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #batchTimer: NodeJS.Timeout | undefined;
  #tidyTimer: NodeJS.Timeout | undefined;

  constructor(
    dir: string,
    { maxWaitingBytes = MAX_WAITING_BYTES, codec = PLAIN_LINES }: LocalHubOptions = {},
  ) {
    this.#live = join(dir, "live");
    this.#codec = codec;
    this.#outgoing = new Outgoing(maxWaitingBytes, codec);
    this.#watchers = new Watchers(codec);
  }

  publish(delta: Delta): void {
    if (this.#closed) return;
    const { session, body } = delta;
    this.#outgoing.put(delta);
    if (body.type === "recorded") this.#tidySoon(session);
    if (this.#outgoing.bytes >= BATCH_BYTES) this.#writeOut();
    else if ("text" in body && this.#isQuiet(session)) this.#writeOut(session);
    else this.#batchTimer ??= setTimeout(() => this.#writeOut(), BATCH_MS);
  }

  async flush(): Promise<void> {
    this.#writeOut();
    while (this.#busy.size > 0) {
      await Promise.all(this.#busy.values());
      this.#writeOut();
    }
  }

  async snapshot(
    session: string,
    { to = Number.POSITIVE_INFINITY }: { readonly to?: number } = {},
  ): Promise<Snapshot> {
    const folder = sessionFolder(this.#live, session);
    let offset = (await segmentsIn(folder)).at(-1) ?? 0;
    const kept = new Kept();
    for await (const one of deltasBehind(folder, this.#codec)) {
      if (one.offset > to) break;
      kept.take(one);
      offset = Math.max(offset, one.offset);
    }
    return { deltas: snapshotOf(kept.deltas), offset: Math.min(offset, to) };
  }

  watch({ session, from = 0, signal }: WatchOptions): AsyncIterable<OffsetDelta> {
    return this.#watchers.watch(sessionFolder(this.#live, session), from, signal);
  }

  async published(call: {
    session: string;
    run: string;
    command: number;
    call: number;
  }): Promise<readonly Delta[]> {
    await this.flush();
    const deltas: Delta[] = [];
    for await (const { delta } of deltasBehind(sessionFolder(this.#live, call.session), this.#codec)) {
      if (delta.run === call.run && delta.command === call.command && delta.call === call.call) {
        deltas.push(delta);
      }
    }
    return deltas;
  }

  async forget(session: string): Promise<void> {
    this.#outgoing.forget(session);
    while (this.#busy.has(session)) await this.#busy.get(session);
    await this.#occupy(session, async () => {
      await this.#writers.close(session);
      await removeFolder(sessionFolder(this.#live, session));
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#tidyTimer);
    this.#tidying = true;
    await this.flush();
    this.#closed = true;
    clearTimeout(this.#batchTimer);
    clearTimeout(this.#tidyTimer);
    await this.#watchers.close();
    await this.#writers.closeAll();
  }

  /** Nothing of it was written just now, nor is: nobody would come to keep it company. */
  #isQuiet(session: string): boolean {
    if (this.#busy.has(session) || this.#busy.size >= AT_ONCE) return false;
    return performance.now() - this.#writers.usedAtMs(session) > BATCH_MS;
  }

  #tidySoon(session: string): void {
    this.#untidy.add(session);
    this.#tidyTimer ??= setTimeout(() => {
      this.#tidyTimer = undefined;
      this.#tidying = true;
      this.#writeOut();
    }, TIDY_MS);
  }

  /** Begins with what waits, of one session or of all, and with what is to be tidied up. */
  #writeOut(only?: string): void {
    if (only === undefined) {
      clearTimeout(this.#batchTimer);
      this.#batchTimer = undefined;
    }
    while (this.#busy.size < AT_ONCE) {
      const isFree = (session: string) => !this.#busy.has(session);
      const batch = only === undefined ? this.#outgoing.take(isFree) : this.#outgoing.takeOf(only);
      if (batch !== undefined) void this.#occupy(batch.session, () => this.#write(batch));
      else if (!this.#tidyOne(isFree)) return;
      if (only !== undefined) return;
    }
  }

  #tidyOne(isFree: (session: string) => boolean): boolean {
    if (!this.#tidying) return false;
    for (const session of this.#untidy) {
      if (!isFree(session)) continue;
      this.#untidy.delete(session);
      void this.#occupy(session, () => this.#tidy(session));
      return true;
    }
    if (this.#untidy.size === 0) this.#tidying = false;
    return false;
  }

  #occupy(session: string, work: () => Promise<void>): Promise<void> {
    const done = work()
      .catch(() => undefined)
      .then(() => {
        this.#busy.delete(session);
        this.#writeOut();
      });
    this.#busy.set(session, done);
    return done;
  }

  async #write(batch: Batch): Promise<void> {
    try {
      await (await this.#writers.of(batch.session)).append(batch.text);
      this.#outgoing.written(batch.bytes);
    } catch {
      this.#outgoing.lost(batch);
    }
    if (performance.now() - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = performance.now();
    void sweep(this.#live).catch(() => undefined);
  }

  async #tidy(session: string): Promise<void> {
    const folder = sessionFolder(this.#live, session);
    const isEmpty = await tidy(folder, this.#codec, await this.#writers.of(session));
    if (isEmpty) await this.#writers.close(session);
  }
}
