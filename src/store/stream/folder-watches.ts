import { randomUUID } from "node:crypto";
import { mkdir, readdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { FolderWatcher } from "./folder-watcher.ts";
import { ignoreMissing } from "./segments.ts";
import { getSessionFolder } from "./session-folder.ts";
import type { WatchedSessions } from "./stored-hub.ts";

/** The folder of marks, beside the folders of sessions, whose names do not begin like this. */
const MARKS = ".watched";
/** How often a watching process renews its marks, and how long a mark counts: a process that dies leaves them. */
const RENEW_MS = 10_000;
const VALID_MS = 30_000;

type Watch = { readonly path: string; count: number; written: Promise<void> };

/**
 * Which sessions of a home are watched: each watching process has an empty file for a session, renewed while it watches.
 * A process that publishes is told of changes by the operating system.
 */
export class FolderWatches implements WatchedSessions {
  readonly #live: string;
  readonly #marks: string;
  readonly #folder: FolderWatcher;
  readonly #id = randomUUID();
  #count = 0;
  /** What this process watches, by session. */
  readonly #own = new Map<string, Watch>();
  /** The folder names of sessions that other processes watch, as last read. */
  #others: ReadonlySet<string> = new Set();
  #stopObserving: (() => void) | undefined;
  #reading: Promise<void> = Promise.resolve();
  #isReadRequested = false;
  #renewal: NodeJS.Timeout | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;

  /** @param live - The folder of the sessions' folders. */
  constructor(live: string) {
    this.#live = live;
    this.#marks = join(live, MARKS);
    this.#folder = new FolderWatcher(this.#marks);
  }

  announce(session: string): () => void {
    const watch = this.#own.get(session) ?? this.#mark(session);
    watch.count += 1;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      watch.count -= 1;
      if (watch.count > 0) return;
      this.#own.delete(session);
      if (this.#own.size === 0) this.#stopRenewal();
      watch.written = watch.written.then(() => unlink(watch.path)).catch(() => undefined);
    };
  }

  isWatched(session: string): boolean {
    this.#stopObserving ??= this.#observe();
    return this.#own.has(session) || this.#others.has(this.#getName(session));
  }

  onChange(wake: () => void): void {
    this.#wake = wake;
  }

  async close(): Promise<void> {
    this.#stopObserving?.();
    this.#stopRenewal();
    clearTimeout(this.#expiry);
    await Promise.all(
      [...this.#own.values()].map(({ path, written }) =>
        written.then(() => unlink(path)).catch(() => undefined),
      ),
    );
    await this.#reading;
  }

  #getName(session: string): string {
    return basename(getSessionFolder(this.#live, session));
  }

  #mark(session: string): Watch {
    // A name of its own, since an earlier mark of the session may be about to be removed.
    const path = join(this.#marks, `${this.#getName(session)}@${this.#id}.${this.#count++}`);
    // Without the mark, output arrives a second later.
    const written = mkdir(this.#marks, { recursive: true, mode: 0o700 })
      .then(() => writeFile(path, "", { mode: 0o600 }))
      .catch(() => undefined);
    const watch = { path, count: 0, written };
    this.#own.set(session, watch);
    this.#renewal ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    // What this process holds itself.
    this.#wake();
    return watch;
  }

  #renew(): void {
    const now = new Date();
    for (const { path } of this.#own.values()) void utimes(path, now, now).catch(() => undefined);
  }

  #stopRenewal(): void {
    clearInterval(this.#renewal);
    this.#renewal = undefined;
  }

  #observe(): () => void {
    const stop = this.#folder.subscribe(() => this.#requestRead());
    this.#requestRead();
    return stop;
  }

  #requestRead(): void {
    if (this.#isReadRequested) return;
    this.#isReadRequested = true;
    this.#reading = this.#reading.then(() => {
      this.#isReadRequested = false;
      return this.#read().catch(() => undefined);
    });
  }

  async #read(): Promise<void> {
    const names = (await ignoreMissing(readdir(this.#marks))) ?? [];
    const others = new Set<string>();
    for (const name of names) {
      const at = name.lastIndexOf("@");
      if (at === -1 || name.startsWith(this.#id, at + 1)) continue;
      const path = join(this.#marks, name);
      const marked = await ignoreMissing(stat(path));
      if (marked === undefined) continue;
      if (Date.now() - marked.mtimeMs < VALID_MS) others.add(name.slice(0, at));
      else await ignoreMissing(unlink(path));
    }
    this.#others = others;
    clearTimeout(this.#expiry);
    if (others.size > 0) this.#expiry = setTimeout(() => this.#requestRead(), VALID_MS).unref();
    if (others.size > 0) this.#wake();
  }
}
