import { randomUUID } from "node:crypto";
import type { WatchedSessions } from "../stored-hub.ts";
import { notifyChannel } from "./delta-rows.ts";
import type { HubDatabase } from "./open-hub-database.ts";
import { readWatchedSessions, removeWatch, saveWatch } from "./watch-rows.ts";

/** The topic of changes on the hub's channel. Topics of sessions are hashes. */
const WATCHES_TOPIC = "watches";
/** How often a watch is renewed, how long it counts, and how often others look for those that have expired. */
const RENEW_MS = 10_000;
const VALID_SECONDS = 30;

type Watch = { readonly id: string; readonly session: string; count: number; saved: Promise<unknown> };

/** Which sessions of a database are watched: rows that watching processes renew, and notifications of changes. */
export class TableWatches implements WatchedSessions {
  readonly #open: () => Promise<HubDatabase>;
  /** What this process watches, by session. */
  readonly #own = new Map<string, Watch>();
  /** As last read, with those of this process. */
  #watched: ReadonlySet<string> = new Set();
  #isObserving = false;
  #isClosed = false;
  #stopListening: () => void = () => undefined;
  #reading: Promise<void> = Promise.resolve();
  #isReadRequested = false;
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;

  constructor(open: () => Promise<HubDatabase>) {
    this.#open = open;
  }

  announce(session: string): () => void {
    const watch = this.#own.get(session) ?? this.#add(session);
    watch.count += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      watch.count -= 1;
      if (watch.count > 0) return;
      this.#own.delete(session);
      watch.saved = watch.saved.then(() => this.#remove(watch.id));
    };
  }

  isWatched(session: string): boolean {
    if (!this.#isObserving && !this.#isClosed) void this.#observe();
    return this.#own.has(session) || this.#watched.has(session);
  }

  onChange(wake: () => void): void {
    this.#wake = wake;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stopListening();
    await Promise.all([...this.#own.values()].map(({ id, saved }) => saved.then(() => this.#remove(id))));
    await this.#reading;
  }

  #add(session: string): Watch {
    const id = randomUUID();
    const watch = { id, session, count: 0, saved: this.#save({ id, session }) };
    this.#own.set(session, watch);
    this.#startTimer();
    // What this process holds itself.
    this.#wake();
    return watch;
  }

  // Without the row, output arrives a second later.

  async #save(watch: { readonly id: string; readonly session: string }): Promise<void> {
    try {
      const { database, channel } = await this.#open();
      await database.write([], function* () {
        yield* saveWatch(watch, VALID_SECONDS);
        yield* notifyChannel(channel, WATCHES_TOPIC);
      });
    } catch {
      // The next renewal tries again.
    }
  }

  async #remove(id: string): Promise<void> {
    try {
      const { database, channel } = await this.#open();
      await database.write([], function* () {
        yield* removeWatch(id);
        yield* notifyChannel(channel, WATCHES_TOPIC);
      });
    } catch {
      // It expires.
    }
  }

  async #observe(): Promise<void> {
    this.#isObserving = true;
    try {
      const { notifications } = await this.#open();
      if (this.#isClosed) return;
      this.#stopListening = notifications.subscribe(WATCHES_TOPIC, () => this.#requestRead());
      this.#startTimer();
      this.#requestRead();
    } catch {
      // The next piece of output tries again.
      this.#isObserving = false;
    }
  }

  /** Renews what this process watches, and looks for watches that have expired. */
  #startTimer(): void {
    this.#timer ??= setInterval(() => {
      for (const watch of this.#own.values()) void this.#save(watch);
      if (this.#watched.size > 0) this.#requestRead();
    }, RENEW_MS).unref();
  }

  #requestRead(): void {
    if (this.#isReadRequested || this.#isClosed) return;
    this.#isReadRequested = true;
    this.#reading = this.#reading.then(() => {
      this.#isReadRequested = false;
      return this.#read();
    });
  }

  async #read(): Promise<void> {
    try {
      const { database } = await this.#open();
      this.#watched = new Set(await database.read(readWatchedSessions));
      if (this.#watched.size > 0) this.#wake();
    } catch {
      // The next notification or renewal reads again.
    }
  }
}
