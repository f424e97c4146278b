import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { basename } from "node:path";

/** The poll interval if the operating system does not report changes. */
const FALLBACK_POLL_MS = 1000;

/** Wakes subscribers when a folder changes. One watch of the operating system serves all. */
export class FolderWatcher {
  readonly #folder: string;
  readonly #listeners = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Calls `wake` at every change. Returns a function that ends the subscription. */
  subscribe(wake: () => void): () => void {
    this.#listeners.add(wake);
    if (this.#watcher === undefined && this.#timer === undefined) this.#startWatching();
    return () => {
      this.#listeners.delete(wake);
      if (this.#listeners.size === 0) this.#stopWatching();
    };
  }

  #wakeAll(): void {
    for (const wake of this.#listeners) wake();
  }

  #startWatching(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#watcher = watch(this.#folder, (type, name) => {
        // The folder itself was removed, and may be recreated.
        if (type === "rename" && (name === null || name === basename(this.#folder))) this.#restartWatching();
        this.#wakeAll();
      });
      this.#watcher.once("error", () => this.#pollRegularly());
    } catch {
      // No watches are left, or the file system does not support them.
      this.#pollRegularly();
    }
  }

  #restartWatching(): void {
    this.#stopWatching();
    if (this.#listeners.size > 0) this.#startWatching();
  }

  #pollRegularly(): void {
    this.#stopWatching();
    if (this.#listeners.size > 0) this.#timer = setInterval(() => this.#wakeAll(), FALLBACK_POLL_MS);
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
