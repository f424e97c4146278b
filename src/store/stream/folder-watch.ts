import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { basename } from "node:path";

/** Time between two looks where the operating system does not tell of changes. */
const BLIND_LOOK_MS = 1000;

/** Wakes those who wait for a folder to change. One watch of the operating system serves all. */
export class FolderWatch {
  readonly #folder: string;
  readonly #wakers = new Set<() => void>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Calls `wake` at every change. Gives the way to end it. */
  on(wake: () => void): () => void {
    this.#wakers.add(wake);
    if (this.#watcher === undefined && this.#timer === undefined) this.#begin();
    return () => {
      this.#wakers.delete(wake);
      if (this.#wakers.size === 0) this.#end();
    };
  }

  #wakeAll(): void {
    for (const wake of this.#wakers) wake();
  }

  #begin(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#watcher = watch(this.#folder, (type, name) => {
        // The folder itself: it was removed, and may come again.
        if (type === "rename" && (name === null || name === basename(this.#folder))) this.#again();
        this.#wakeAll();
      });
      this.#watcher.once("error", () => this.#lookNowAndThen());
    } catch {
      // No watches left, or a file system without them.
      this.#lookNowAndThen();
    }
  }

  #again(): void {
    this.#end();
    if (this.#wakers.size > 0) this.#begin();
  }

  #lookNowAndThen(): void {
    this.#end();
    if (this.#wakers.size > 0) this.#timer = setInterval(() => this.#wakeAll(), BLIND_LOOK_MS);
  }

  #end(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
