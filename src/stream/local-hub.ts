import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { FolderWatch } from "./folder-watch.ts";
import { type Identity, wholeLines } from "./lines.ts";
import { Outgoing } from "./outgoing.ts";
import { sessionFile, sessionFileName } from "./session-file.ts";
import { snapshotOf } from "./snapshot.ts";
import type { Delta, OffsetDelta, Snapshot, StreamHub, WatchOptions } from "./stream.ts";

/** How long a delta waits for company, and how many bytes go out at once without waiting. */
const BATCH_MS = 10;
const BATCH_BYTES = 64 * 1024;
/** Bytes that may wait for the files. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Files that are written at the same time: the thread pool has four threads for everything. */
const WRITERS = 2;

/**
 * Live output on one machine: a file of JSON lines per session under `{dir}/live`, appended to by any process.
 *
 * An offset is the place in bytes behind a delta's line. A batch is one write of whole lines; it begins with an
 * empty one, so that a line that a dying process has cut off spoils no other.
 */
export class LocalHub implements StreamHub {
  readonly #folder: string;
  readonly #outgoing: Outgoing;
  readonly #watch: FolderWatch;
  readonly #closing = new AbortController();
  readonly #writing = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param options.maxWaitingBytes - Bound of what waits for the files; beyond it deltas are dropped. */
  constructor(dir: string, options: { readonly maxWaitingBytes?: number } = {}) {
    this.#folder = join(dir, "live");
    this.#outgoing = new Outgoing(options.maxWaitingBytes ?? MAX_WAITING_BYTES);
    this.#watch = new FolderWatch(this.#folder);
  }

  publish(delta: Delta): void {
    if (this.#closing.signal.aborted) return;
    this.#outgoing.put(delta);
    if (this.#outgoing.bytes >= BATCH_BYTES) this.#writeOut();
    else this.#timer ??= setTimeout(() => this.#writeOut(), BATCH_MS);
  }

  async flush(): Promise<void> {
    this.#writeOut();
    while (this.#writing.size > 0) {
      await Promise.all(this.#writing.values());
      this.#writeOut();
    }
  }

  watch(options: WatchOptions): AsyncIterable<OffsetDelta> {
    const path = sessionFile(this.#folder, options.session);
    return this.#follow(options, path, options.from ?? 0);
  }

  async snapshot(
    session: string,
    { to = Number.POSITIVE_INFINITY }: { readonly to?: number } = {},
  ): Promise<Snapshot> {
    const kept: OffsetDelta[] = [];
    for await (const { offset, delta } of wholeLines(sessionFile(this.#folder, session), { offset: 0 })) {
      if (offset <= to) kept.push({ offset, delta });
    }
    return { deltas: snapshotOf(kept), offset: kept.at(-1)?.offset ?? 0 };
  }

  async published(call: {
    session: string;
    run: string;
    command: number;
    call: number;
  }): Promise<readonly Delta[]> {
    await this.flush();
    const deltas: Delta[] = [];
    for await (const { delta } of wholeLines(sessionFile(this.#folder, call.session), { offset: 0 })) {
      if (delta.run === call.run && delta.command === call.command && delta.call === call.call) {
        deltas.push(delta);
      }
    }
    return deltas;
  }

  async forget(session: string): Promise<void> {
    this.#outgoing.forget(session);
    await this.#writing.get(session);
    await rm(sessionFile(this.#folder, session), { force: true });
  }

  async close(): Promise<void> {
    await this.flush();
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  async *#follow(options: WatchOptions, path: string, from: number): AsyncGenerator<OffsetDelta> {
    const ended = AbortSignal.any([options.signal, this.#closing.signal]);
    let changed = true;
    let wake = (): void => undefined;
    const change = (): void => {
      changed = true;
      wake();
    };
    const stopWatching = this.#watch.on(sessionFileName(options.session), change);
    ended.addEventListener("abort", change);
    try {
      let offset = from;
      let identity: Identity | undefined;
      while (!ended.aborted) {
        changed = false;
        for await (const line of wholeLines(path, { offset, identity })) {
          ({ offset, identity } = line);
          yield { offset, delta: line.delta };
          if (ended.aborted) return;
        }
        if (changed) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (changed) resolve();
        });
      }
    } finally {
      ended.removeEventListener("abort", change);
      stopWatching();
    }
  }

  #writeOut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing.size < WRITERS) {
      const batch = this.#outgoing.take((session) => !this.#writing.has(session));
      if (batch === undefined) return;
      const writing = this.#append(batch.session, batch.text).then(
        () => this.#outgoing.written(batch.bytes),
        () => this.#outgoing.lost(batch),
      );
      this.#writing.set(
        batch.session,
        writing.then(() => {
          this.#writing.delete(batch.session);
          this.#writeOut();
        }),
      );
    }
  }

  async #append(session: string, text: string): Promise<void> {
    const path = sessionFile(this.#folder, session);
    const file = await open(path, "a", 0o600).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      return open(path, "a", 0o600);
    });
    try {
      const bytes = Buffer.from(`\n${text}`, "utf8");
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length)
        throw new Error(`only ${bytesWritten} of ${bytes.length} bytes were taken`);
    } finally {
      await file.close();
    }
  }
}
