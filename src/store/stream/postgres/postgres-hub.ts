import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../postgres/database.ts";
import type { Notifications } from "../../postgres/notifications.ts";
import { type LineCodec, PLAIN_LINES } from "../line-codec.ts";
import { Outgoing } from "../outgoing.ts";
import { snapshotOf } from "../snapshot.ts";
import type { Delta, OffsetDelta, Snapshot, StreamHub, WatchOptions } from "../stream.ts";
import { type Opened, openStore } from "./open-store.ts";
import { behind, newest, ofCall, type Placed, placed, removeSession } from "./rows.ts";
import { SessionTail } from "./session-tail.ts";
import { Sweeper } from "./sweeper.ts";
import { writeBatch } from "./write-batch.ts";

/** How long a delta waits for company, and how many bytes go out at once without waiting. */
const BATCH_MS = 5;
const BATCH_BYTES = 64 * 1024;
/** Bytes that may wait for the database. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Sessions that are written at the same time, each over a connection of its own. */
const WRITERS = 2;
const PAGE = 500;
/** Between two looks at a database that does not answer. */
const AWAY_MS = 500;

/**
 * Live output in PostgreSQL, for any number of hosts: a table that is not logged, and a word to those who listen.
 *
 * An offset is a delta's place, given out under a lock on its session. It connects when it is needed for the first time.
 */
export class PostgresHub implements StreamHub {
  readonly #url: string;
  readonly #codec: LineCodec;
  readonly #outgoing: Outgoing;
  readonly #closing = new AbortController();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #tails = new Map<string, SessionTail>();
  readonly #sweeper = new Sweeper(() => this.#database());
  #opened: Promise<Opened> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What comes before then is dropped at once: the database has just failed. */
  #awayUntilMs = 0;

  /** @param options.maxWaitingBytes - Bound of what waits for the database; beyond it deltas are dropped. */
  constructor(url: string, options: { readonly maxWaitingBytes?: number; readonly codec?: LineCodec } = {}) {
    this.#url = url;
    this.#codec = options.codec ?? PLAIN_LINES;
    this.#outgoing = new Outgoing(options.maxWaitingBytes ?? MAX_WAITING_BYTES);
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

  async snapshot(
    session: string,
    { to = Number.POSITIVE_INFINITY }: { readonly to?: number } = {},
  ): Promise<Snapshot> {
    const { database } = await this.#open();
    const last = Math.min(to, await database.read(() => newest(session)));
    const kept: OffsetDelta[] = [];
    for (let from = 0; from < last; ) {
      const rows = await database.read(() => behind(session, from, PAGE));
      const shown = rows.filter(({ place }) => place <= last).map((row) => placed(row, this.#codec));
      kept.push(...shown.filter(isReadable));
      if (rows.length < PAGE) break;
      from = rows.at(-1)!.place;
    }
    return { deltas: snapshotOf(kept), offset: last };
  }

  watch(options: WatchOptions): AsyncIterable<OffsetDelta> {
    return this.#follow(options);
  }

  /** What cannot be asked is not known: this is a help for who reads of an unknown outcome, and holds nobody up. */
  async published(call: {
    session: string;
    run: string;
    command: number;
    call: number;
  }): Promise<readonly Delta[]> {
    await this.flush();
    try {
      const { database } = await this.#open();
      const rows = await database.read(() => ofCall(call));
      return rows.flatMap((row) => placed(row, this.#codec).delta ?? []);
    } catch {
      return [];
    }
  }

  async forget(session: string): Promise<void> {
    this.#outgoing.forget(session);
    await this.#writing.get(session);
    const { database } = await this.#open();
    await database.write([`live ${session}`], () => removeSession(session));
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    await this.flush();
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#sweeper.close();
    const opened = await this.#opened?.catch(() => undefined);
    opened?.notifications.close();
    await opened?.database.close();
  }

  async *#follow({ session, from = 0, signal }: WatchOptions): AsyncGenerator<OffsetDelta> {
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    let tail: SessionTail | undefined;
    let changed = true;
    let wake = (): void => undefined;
    const change = (): void => {
      changed = true;
      tail?.change();
      wake();
    };
    let stopListening = (): void => undefined;
    ended.addEventListener("abort", change);
    try {
      stopListening =
        (await this.#patiently(ended, () => this.#notifications()))?.on(session, change) ?? stopListening;
      let place = from;
      while (!ended.aborted) {
        changed = false;
        // What was there before is read by himself; whoever has come to its end reads on together with the others.
        const next = () => (tail === undefined ? this.#behind(session, place, PAGE) : tail.behind(place));
        const page = (await this.#patiently(ended, next)) ?? [];
        for (const one of page) {
          place = one.offset;
          if (isReadable(one)) yield one;
          if (ended.aborted) return;
        }
        if (tail === undefined && page.length < PAGE) {
          tail = this.#tailOf(session, place);
          continue;
        }
        if (changed || page.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (changed) resolve();
        });
      }
    } finally {
      ended.removeEventListener("abort", change);
      stopListening();
      if (tail !== undefined) tail.watchers -= 1;
      if (tail?.watchers === 0 && this.#tails.get(session) === tail) this.#tails.delete(session);
    }
  }

  #tailOf(session: string, from: number): SessionTail {
    const known = this.#tails.get(session);
    const tail = known ?? new SessionTail(from, PAGE, (place, limit) => this.#behind(session, place, limit));
    this.#tails.set(session, tail);
    tail.watchers += 1;
    return tail;
  }

  async #behind(session: string, place: number, limit: number): Promise<readonly Placed[]> {
    const { database } = await this.#open();
    const rows = await database.read(() => behind(session, place, limit));
    return rows.map((row) => placed(row, this.#codec));
  }

  /** A watcher waits for a database that is away, as it waits for news. */
  async #patiently<T>(ended: AbortSignal, attempt: () => Promise<T>): Promise<T | undefined> {
    while (!ended.aborted) {
      try {
        return await attempt();
      } catch (error) {
        const { fault } = error as { fault?: string };
        if (ended.aborted) break;
        if (fault !== "unreachable" && fault !== "busy") throw error;
        await sleep(AWAY_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #notifications(): Promise<Pick<Notifications, "on">> {
    return (await this.#open()).listener;
  }

  async #database(): Promise<Database> {
    return (await this.#open()).database;
  }

  #open(): Promise<Opened> {
    this.#opened ??= openStore(this.#url).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  #writeOut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing.size < WRITERS) {
      const batch = this.#outgoing.take((session) => !this.#writing.has(session));
      if (batch === undefined) return;
      if (performance.now() < this.#awayUntilMs) {
        this.#outgoing.lost(batch);
        continue;
      }
      const writing = this.#open()
        .then((opened) => writeBatch(opened, batch, this.#sweeper, this.#codec))
        .then(
          () => this.#outgoing.written(batch.bytes),
          () => {
            this.#outgoing.lost(batch);
            this.#awayUntilMs = performance.now() + AWAY_MS;
          },
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
}

/** Sealed with a key that is not here, or no delta: passed over, as in files. */
function isReadable(one: Placed): one is OffsetDelta {
  return one.delta !== undefined;
}
