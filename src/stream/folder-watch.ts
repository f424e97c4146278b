import { type FSWatcher, mkdirSync, watch } from "node:fs";

/** Time between two looks where the operating system does not tell of changes. */
const BLIND_LOOK_MS = 1000;

/** Wakes those who wait for a file of one folder to change. One watch of the operating system serves all. */
export class FolderWatch {
  readonly #folder: string;
  readonly #wakers = new Map<string, Set<() => void>>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Calls `wake` at every change of the file, or of its being there. Gives the way to end it. */
  on(name: string, wake: () => void): () => void {
    const wakers = this.#wakers.get(name) ?? new Set();
    this.#wakers.set(name, wakers.add(wake));
    if (this.#watcher === undefined && this.#timer === undefined) this.#begin();
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.#wakers.get(name) === wakers) this.#wakers.delete(name);
      if (this.#wakers.size === 0) this.#end();
    };
  }

  wakeAll(): void {
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake();
  }

  #begin(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#watcher = watch(this.#folder, (_, name) => {
        if (name === null) this.wakeAll();
        else for (const wake of this.#wakers.get(name) ?? []) wake();
      });
      this.#watcher.once("error", () => this.#lookNowAndThen());
    } catch {
      // No watches left, or a file system without them.
      this.#lookNowAndThen();
    }
  }

  #lookNowAndThen(): void {
    this.#end();
    if (this.#wakers.size > 0) this.#timer = setInterval(() => this.wakeAll(), BLIND_LOOK_MS);
  }

  #end(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
