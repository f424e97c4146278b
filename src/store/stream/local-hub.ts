import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildSnapshot } from "./build-snapshot.ts";
import { cleanUpStream, removeFolder, sweepStreams } from "./clean-up-stream.ts";
import { DeltaBuffer } from "./delta-buffer.ts";
import { type LineCodec, PLAIN_LINES } from "./line-codec.ts";
import { type Batch, OutgoingQueue } from "./outgoing-queue.ts";
import { readDeltasAfter } from "./segment-reader.ts";
import { SegmentWriters } from "./segment-writers.ts";
import { listSegments } from "./segments.ts";
import { getSessionFolder } from "./session-folder.ts";
import type { StoredHub } from "./stored-hub.ts";
import type { CallReference, Delta, OffsetDelta, StreamSnapshot, StreamWatchOptions } from "./stream-hub.ts";
import { StreamWatchers } from "./stream-watchers.ts";

/** How long a delta waits to form a batch if others preceded it shortly, and how many bytes are written without waiting. */
const BATCH_MS = 20;
const BATCH_BYTES = 64 * 1024;
/** The maximum number of bytes that wait for the files. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** The number of files that are written concurrently: the thread pool has four threads in total. */
const MAX_CONCURRENT = 2;
/** How long completed deltas stay, so that watchers read the announcement and removal costs a fast run little. */
const CLEANUP_DELAY_MS = 250;
const SWEEP_MS = 24 * 60 * 60 * 1000;

export type LocalHubOptions = {
  /** The limit of bytes that wait for the files; beyond it deltas are dropped. */
  readonly maxWaitingBytes?: number;
  /** The encoding of deltas in the files. */
  readonly codec?: LineCodec;
};

/**
 * Live output on one machine: files of lines for each session under `{dir}/live`, to which any process appends (see
 * `segments.ts`). An offset is the position in bytes after a delta's line.
 */
export class LocalHub implements StoredHub {
  readonly #live: string;
  readonly #codec: LineCodec;
  readonly #outgoing: OutgoingQueue;
  readonly #writers = new SegmentWriters((session) => getSessionFolder(this.#live, session));
  readonly #watchers: StreamWatchers;
  /** Sessions whose files are being written, cleaned up or removed. */
  readonly #busy = new Map<string, Promise<void>>();
  /** Sessions with completed deltas. */
  readonly #sessionsToClean = new Set<string>();
  #isCleaningUp = false;
  #closed = false;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #batchTimer: NodeJS.Timeout | undefined;
  #cleanupTimer: NodeJS.Timeout | undefined;

  constructor(
    dir: string,
    { maxWaitingBytes = MAX_WAITING_BYTES, codec = PLAIN_LINES }: LocalHubOptions = {},
  ) {
    this.#live = join(dir, "live");
    this.#codec = codec;
    this.#outgoing = new OutgoingQueue(maxWaitingBytes, codec);
    this.#watchers = new StreamWatchers(codec);
  }

  publish(delta: Delta): void {
    if (this.#closed) return;
    const { session, body } = delta;
    this.#outgoing.add(delta);
    if (body.type === "recorded") this.#scheduleCleanup(session);
    if (this.#outgoing.bytes >= BATCH_BYTES) this.#writeOut();
    else if ("text" in body && this.#isQuiet(session)) this.#writeOut(session);
    else this.#batchTimer ??= setTimeout(() => this.#writeOut(), BATCH_MS);
  }

  /** Nothing: what is stored stays until it is recorded. */
  end(): void {}

  complete(announcement: Delta): void {
    const { session } = announcement;
    const mayHaveOutput = this.#outgoing.has(session) || this.#busy.has(session);
    // Most often there is none, which one look at the folder tells.
    if (mayHaveOutput || existsSync(getSessionFolder(this.#live, session))) this.publish(announcement);
  }

  async flush(): Promise<void> {
    this.#writeOut();
    while (this.#busy.size > 0) {
      await Promise.all(this.#busy.values());
      this.#writeOut();
    }
  }

  async readSnapshot(
    session: string,
    { to = Number.POSITIVE_INFINITY }: { readonly to?: number } = {},
  ): Promise<StreamSnapshot> {
    const folder = getSessionFolder(this.#live, session);
    let offset = (await listSegments(folder)).at(-1) ?? 0;
    const buffer = new DeltaBuffer();
    for await (const one of readDeltasAfter(folder, this.#codec)) {
      if (one.offset > to) break;
      buffer.add(one);
      offset = Math.max(offset, one.offset);
    }
    return { deltas: buildSnapshot(buffer.deltas), offset: Math.min(offset, to) };
  }

  watch({ session, from = 0, signal }: StreamWatchOptions): AsyncIterable<OffsetDelta> {
    return this.#watchers.watch(getSessionFolder(this.#live, session), from, signal);
  }

  async readPublished(call: CallReference): Promise<readonly Delta[]> {
    await this.flush();
    const deltas: Delta[] = [];
    for await (const { delta } of readDeltasAfter(getSessionFolder(this.#live, call.session), this.#codec)) {
      if (delta.run === call.run && delta.command === call.command && delta.call === call.call) {
        deltas.push(delta);
      }
    }
    return deltas;
  }

  async deleteSession(session: string): Promise<void> {
    this.#outgoing.deleteSession(session);
    while (this.#busy.has(session)) await this.#busy.get(session);
    await this.#runExclusive(session, async () => {
      await this.#writers.close(session);
      await removeFolder(getSessionFolder(this.#live, session));
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#cleanupTimer);
    this.#isCleaningUp = true;
    await this.flush();
    this.#closed = true;
    clearTimeout(this.#batchTimer);
    clearTimeout(this.#cleanupTimer);
    await this.#watchers.close();
    await this.#writers.closeAll();
  }

  /** Checks that a session has no recent or current write, so that waiting for a batch is useless. */
  #isQuiet(session: string): boolean {
    if (this.#busy.has(session) || this.#busy.size >= MAX_CONCURRENT) return false;
    return performance.now() - this.#writers.getUsedAtMs(session) > BATCH_MS;
  }

  #scheduleCleanup(session: string): void {
    this.#sessionsToClean.add(session);
    this.#cleanupTimer ??= setTimeout(() => {
      this.#cleanupTimer = undefined;
      this.#isCleaningUp = true;
      this.#writeOut();
    }, CLEANUP_DELAY_MS);
  }

  /** Starts to write waiting deltas, of one session or of all, and to clean up. */
  #writeOut(only?: string): void {
    if (only === undefined) {
      clearTimeout(this.#batchTimer);
      this.#batchTimer = undefined;
    }
    while (this.#busy.size < MAX_CONCURRENT) {
      const isFree = (session: string) => !this.#busy.has(session);
      const batch = only === undefined ? this.#outgoing.takeBatch(isFree) : this.#outgoing.takeBatchOf(only);
      if (batch !== undefined) void this.#runExclusive(batch.session, () => this.#write(batch));
      else if (!this.#cleanUpNext(isFree)) return;
      if (only !== undefined) return;
    }
  }

  #cleanUpNext(isFree: (session: string) => boolean): boolean {
    if (!this.#isCleaningUp) return false;
    for (const session of this.#sessionsToClean) {
      if (!isFree(session)) continue;
      this.#sessionsToClean.delete(session);
      void this.#runExclusive(session, () => this.#cleanUp(session));
      return true;
    }
    if (this.#sessionsToClean.size === 0) this.#isCleaningUp = false;
    return false;
  }

  #runExclusive(session: string, work: () => Promise<void>): Promise<void> {
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
      await (await this.#writers.getWriter(batch.session)).append(batch.text);
      this.#outgoing.confirmWritten(batch.bytes);
    } catch {
      this.#outgoing.markDropped(batch);
    }
    if (performance.now() - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = performance.now();
    void sweepStreams(this.#live).catch(() => undefined);
  }

  async #cleanUp(session: string): Promise<void> {
    const folder = getSessionFolder(this.#live, session);
    const isEmpty = await cleanUpStream(folder, this.#codec, await this.#writers.getWriter(session));
    if (isEmpty) await this.#writers.close(session);
  }
}
