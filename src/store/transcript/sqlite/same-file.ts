import { statSync } from "node:fs";
import { storeError } from "./fault.ts";

/**
 * Knows a file again. SQLite goes on with one that was deleted or moved away, where nobody would find what it writes,
 * and makes an empty one when it is asked to open it anew.
 */
export class SameFile {
  readonly #path: string;
  #known: { readonly device: number; readonly inode: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Of a connection that was just opened. */
  remember(): void {
    this.#known = this.#look();
  }

  /**
   * Whether the file that was remembered is the one at its path; before that, nothing is known.
   *
   * @throws StoreError `unreachable` when there is none any more.
   */
  isThere(): boolean {
    if (this.#known === undefined) return true;
    const found = this.#look();
    if (found === undefined) throw storeError("unreachable", this.#path, "the file was there and is gone");
    return found.inode === this.#known.inode && found.device === this.#known.device;
  }

  #look(): { readonly device: number; readonly inode: number } | undefined {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found === undefined ? undefined : { device: found.dev, inode: found.ino };
  }
}
