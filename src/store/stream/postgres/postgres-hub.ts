import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../postgres/database.ts";
import type { Notifications } from "../../postgres/notifications.ts";
import { buildSnapshot } from "../build-snapshot.ts";
import { type LineCodec, PLAIN_LINES } from "../line-codec.ts";
import { OutgoingQueue } from "../outgoing-queue.ts";
import type { StoredHub } from "../stored-hub.ts";
import type { CallReference, Delta, OffsetDelta, StreamSnapshot, StreamWatchOptions } from "../stream-hub.ts";
import {
  type PositionedDelta,
  readAfter,
  readNewestPosition,
  readOfCall,
  removeSession,
  toPositionedDelta,
} from "./delta-rows.ts";
import { type HubDatabase, openHubDatabase } from "./open-hub-database.ts";
import { SessionTail } from "./session-tail.ts";
import { Sweeper } from "./sweeper.ts";
import { TableWatches } from "./table-watches.ts";
import { writeBatch } from "./write-batch.ts";

/** How long a delta waits for others to form a batch, and how many bytes are sent without waiting. */
const BATCH_MS = 5;
const BATCH_BYTES = 64 * 1024;
/** The maximum number of bytes that wait for the database. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** The number of sessions that are written concurrently, each over a connection of its own. */
const WRITERS = 2;
const PAGE = 500;
/** The pause between two attempts at an unavailable database. */
const UNAVAILABLE_PAUSE_MS = 500;

/**
 * Live output in PostgreSQL, for any number of hosts: an unlogged table, and notifications.
 *
 * An offset is a delta's position, assigned under a lock on its session. The hub connects on first use.
 */
export class PostgresHub implements StoredHub {
  readonly #url: string;
  readonly #codec: LineCodec;
  readonly #outgoing: OutgoingQueue;
  readonly #closing = new AbortController();
  readonly #writing = new Map<string, Promise<void>>();
  readonly #tails = new Map<string, SessionTail>();
  readonly #sweeper = new Sweeper(() => this.#getDatabase());
  /** The sessions that processes of this database watch, over the connections of this hub. */
  readonly watches = new TableWatches(() => this.#open());
  #opened: Promise<HubDatabase> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Until then deltas are dropped at once, because the database has just failed. */
  #unavailableUntilMs = 0;

  /** @param options.maxWaitingBytes - The limit of bytes that wait for the database; beyond it deltas are dropped. */
  constructor(url: string, options: { readonly maxWaitingBytes?: number; readonly codec?: LineCodec } = {}) {
    this.#url = url;
    this.#codec = options.codec ?? PLAIN_LINES;
    this.#outgoing = new OutgoingQueue(options.maxWaitingBytes ?? MAX_WAITING_BYTES);
  }

  publish(delta: Delta): void {
    if (this.#closing.signal.aborted) return;
    this.#outgoing.add(delta);
    if (this.#outgoing.bytes >= BATCH_BYTES) this.#writeOut();
    else this.#timer ??= setTimeout(() => this.#writeOut(), BATCH_MS);
  }

  /** Nothing: what is stored stays until it is recorded. */
  end(): void {}

  complete({ session, loopId, run, command, body }: Delta): void {
    if (this.#closing.signal.aborted || body.type !== "recorded") return;
    this.#sweeper.addCompleted({
      session,
      loopId,
      before: { run, command, atMs: Date.now() },
      completed: body.completed,
    });
  }

  async flush(): Promise<void> {
    this.#writeOut();
    while (this.#writing.size > 0) {
      await Promise.all(this.#writing.values());
      this.#writeOut();
    }
  }

  async readSnapshot(
    session: string,
    { to = Number.POSITIVE_INFINITY }: { readonly to?: number } = {},
  ): Promise<StreamSnapshot> {
    const { database } = await this.#open();
    const last = Math.min(to, await database.read(() => readNewestPosition(session)));
    const buffer: OffsetDelta[] = [];
    for (let from = 0; from < last; ) {
      const rows = await database.read(() => readAfter(session, from, PAGE));
      const deltas = rows
        .filter(({ position }) => position <= last)
        .map((row) => toPositionedDelta(row, this.#codec));
      buffer.push(...deltas.filter(isReadable));
      if (rows.length < PAGE) break;
      from = rows.at(-1)!.position;
    }
    return { deltas: buildSnapshot(buffer), offset: last };
  }

  watch(options: StreamWatchOptions): AsyncIterable<OffsetDelta> {
    return this.#follow(options);
  }

  /** Returns nothing if the database is unavailable: this only helps to describe an unknown outcome and must not block. */
  async readPublished(call: CallReference): Promise<readonly Delta[]> {
    await this.flush();
    try {
      const { database } = await this.#open();
      const rows = await database.read(() => readOfCall(call));
      return rows.flatMap((row) => toPositionedDelta(row, this.#codec).delta ?? []);
    } catch {
      return [];
    }
  }

  async deleteSession(session: string): Promise<void> {
    this.#outgoing.deleteSession(session);
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

  async *#follow({ session, from = 0, signal }: StreamWatchOptions): AsyncGenerator<OffsetDelta> {
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    let tail: SessionTail | undefined;
    let changed = true;
    let wake = (): void => undefined;
    const change = (): void => {
      changed = true;
      tail?.markStale();
      wake();
    };
    let stopListening = (): void => undefined;
    ended.addEventListener("abort", change);
    try {
      stopListening =
        (await this.#retryRead(ended, () => this.#getNotifications()))?.subscribe(session, change) ??
        stopListening;
      let position = from;
      while (!ended.aborted) {
        changed = false;
        // A watcher reads existing deltas itself. At the end it shares reads with the others.
        const next = () =>
          tail === undefined ? this.#readAfter(session, position, PAGE) : tail.readAfter(position);
        const page = (await this.#retryRead(ended, next)) ?? [];
        for (const one of page) {
          position = one.offset;
          if (isReadable(one)) yield one;
          if (ended.aborted) return;
        }
        if (tail === undefined && page.length < PAGE) {
          tail = this.#getTail(session, position);
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

  #getTail(session: string, from: number): SessionTail {
    const known = this.#tails.get(session);
    const tail =
      known ?? new SessionTail(from, PAGE, (position, limit) => this.#readAfter(session, position, limit));
    this.#tails.set(session, tail);
    tail.watchers += 1;
    return tail;
  }

  async #readAfter(session: string, position: number, limit: number): Promise<readonly PositionedDelta[]> {
    const { database } = await this.#open();
    const rows = await database.read(() => readAfter(session, position, limit));
    return rows.map((row) => toPositionedDelta(row, this.#codec));
  }

  /** Retries a watcher's read until the database is available again. */
  async #retryRead<T>(ended: AbortSignal, attempt: () => Promise<T>): Promise<T | undefined> {
    while (!ended.aborted) {
      try {
        return await attempt();
      } catch (error) {
        const { fault } = error as { fault?: string };
        if (ended.aborted) break;
        if (fault !== "unreachable" && fault !== "busy") throw error;
        await sleep(UNAVAILABLE_PAUSE_MS, undefined, { signal: ended }).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #getNotifications(): Promise<Pick<Notifications, "subscribe">> {
    return (await this.#open()).listener;
  }

  async #getDatabase(): Promise<Database> {
    return (await this.#open()).database;
  }

  #open(): Promise<HubDatabase> {
    this.#opened ??= openHubDatabase(this.#url).catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  #writeOut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing.size < WRITERS) {
      const batch = this.#outgoing.takeBatch((session) => !this.#writing.has(session));
      if (batch === undefined) return;
      if (performance.now() < this.#unavailableUntilMs) {
        this.#outgoing.markDropped(batch);
        continue;
      }
      const writing = this.#open()
        .then((opened) => writeBatch(opened, batch, this.#sweeper, this.#codec))
        .then(
          () => this.#outgoing.confirmWritten(batch.bytes),
          () => {
            this.#outgoing.markDropped(batch);
            this.#unavailableUntilMs = performance.now() + UNAVAILABLE_PAUSE_MS;
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

/** Checks that a delta was decoded. Others (a missing key, an invalid line) are skipped, as in files. */
function isReadable(one: PositionedDelta): one is OffsetDelta {
  return one.delta !== undefined;
}
