import { HeldOutput } from "./held-output.ts";
import type { StoredHub, WatchedSessions } from "./stored-hub.ts";
import type {
  CallReference,
  Delta,
  OffsetDelta,
  PublishOptions,
  StreamHub,
  StreamSnapshot,
  StreamWatchOptions,
} from "./stream-hub.ts";

/** How long output stays in memory alone. What is longer under way is stored, whether it is watched or not. */
const HOLD_MS = 1_000;
/** The most characters of texts in memory alone: a quarter of a megabyte for a session, as much as a file has. */
const MAX_SESSION_CHARS = 256 * 1024;
const MAX_CHARS = 4 * 1024 * 1024;
/** How long an announcement that nobody watched is remembered, for a watcher that read the transcript just before it. */
const ANNOUNCEMENT_MS = 2_000;

/**
 * Keeps live output in memory while nobody watches it, so that what is recorded within a second costs no write.
 *
 * The output of a session reaches the store when a process watches the session, after a second, when there is much of it,
 * and at once if it is lasting.
 */
export class HoldingHub implements StreamHub {
  readonly #store: StoredHub;
  readonly #watched: WatchedSessions;
  readonly #held = new HeldOutput();
  /** The sessions with output that this process has stored and that is not all recorded: others may have seen it. */
  readonly #stored = new Set<string>();
  /** The last announcement of each session that was not stored, the oldest first. */
  readonly #announced = new Map<string, { readonly announcement: Delta; readonly atMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(store: StoredHub, watched: WatchedSessions) {
    this.#store = store;
    this.#watched = watched;
    watched.onChange(() => this.#storeWatched());
  }

  publish(delta: Delta, { isLasting = false }: PublishOptions = {}): void {
    if (this.#isClosed) return;
    const { session, body } = delta;
    if (this.#watched.isWatched(session)) {
      this.#storeHeld(session);
      this.#storeOne(delta);
      return;
    }
    if (body.type === "recorded") {
      this.#announce(delta);
      return;
    }
    this.#held.hold(delta, performance.now());
    const isFull = this.#held.getChars(session) > MAX_SESSION_CHARS || this.#held.chars > MAX_CHARS;
    if (isLasting || isFull) this.#storeHeld(session);
    else this.#timer ??= setTimeout(() => this.#storeOld(), HOLD_MS);
  }

  #announce(announcement: Delta): void {
    const { session } = announcement;
    this.#held.complete(announcement);
    if (this.#stored.has(session)) {
      this.#storeOne(announcement);
      return;
    }
    this.#rememberAnnouncement(announcement);
    this.#store.complete(announcement);
  }

  end(call: CallReference): void {
    this.#held.removeCall(call);
  }

  async flush(): Promise<void> {
    for (const session of this.#held.sessions) this.#storeHeld(session);
    await this.#store.flush();
  }

  async readSnapshot(session: string, options?: { readonly to?: number }): Promise<StreamSnapshot> {
    if (this.#storeHeld(session)) await this.#store.flush();
    return await this.#store.readSnapshot(session, options);
  }

  async *watch(options: StreamWatchOptions): AsyncGenerator<OffsetDelta, void, void> {
    const endWatch = this.#watched.announce(options.session);
    try {
      yield* this.#store.watch(options);
    } finally {
      endWatch();
    }
  }

  async readPublished(call: CallReference): Promise<readonly Delta[]> {
    this.#storeHeld(call.session);
    return await this.#store.readPublished(call);
  }

  async deleteSession(session: string): Promise<void> {
    this.#held.take(session);
    this.#announced.delete(session);
    this.#stored.delete(session);
    await this.#store.deleteSession(session);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.flush();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#watched.close();
    await this.#store.close();
  }

  /** @returns Whether there was held output. */
  #storeHeld(session: string): boolean {
    const deltas = this.#held.take(session);
    for (const delta of deltas) this.#storeOne(delta);
    return deltas.length > 0;
  }

  #storeOne(delta: Delta): void {
    const { session, body } = delta;
    if (body.type === "recorded" && body.completed === "all") this.#stored.delete(session);
    else this.#stored.add(session);
    this.#store.publish(delta);
  }

  /** Stores what watchers of other processes wait for, now that they are known. */
  #storeWatched(): void {
    for (const session of this.#held.sessions) if (this.#watched.isWatched(session)) this.#storeHeld(session);
    this.#forgetAnnouncements();
    for (const [session, { announcement }] of this.#announced) {
      if (!this.#watched.isWatched(session)) continue;
      this.#announced.delete(session);
      this.#storeOne(announcement);
    }
  }

  #storeOld(): void {
    this.#timer = undefined;
    for (const session of this.#held.listSince(performance.now() - HOLD_MS)) this.#storeHeld(session);
    this.#forgetAnnouncements();
    const oldest = this.#held.oldestMs;
    if (oldest === undefined) return;
    this.#timer = setTimeout(() => this.#storeOld(), Math.max(1, oldest + HOLD_MS - performance.now()));
  }

  #rememberAnnouncement(announcement: Delta): void {
    const { session } = announcement;
    this.#announced.delete(session);
    this.#announced.set(session, { announcement, atMs: performance.now() });
    this.#forgetAnnouncements();
  }

  #forgetAnnouncements(): void {
    const before = performance.now() - ANNOUNCEMENT_MS;
    for (const [session, { atMs }] of this.#announced) {
      if (atMs > before) return;
      this.#announced.delete(session);
    }
  }
}
