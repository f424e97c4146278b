import { statSync } from "node:fs";
import { createStoreError } from "./sqlite-faults.ts";

/**
 * Knows a file again. SQLite goes on with one that was deleted or moved away, where nobody would find what it writes,
 * and makes an empty one when it is asked to open it anew.
 */
export class FileIdentity {
  readonly #path: string;
  #recorded: { readonly device: number; readonly inode: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Of a connection that was just opened. */
  remember(): void {
    this.#recorded = this.#readIdentity();
  }

  /**
   * Whether the file that was remembered is the one at its path; before that, nothing is known.
   *
   * @throws StoreError `unreachable` when there is none any more.
   */
  isUnchanged(): boolean {
    if (this.#recorded === undefined) return true;
    const found = this.#readIdentity();
    if (found === undefined)
      throw createStoreError("unreachable", this.#path, "the file was there and is gone");
    return found.inode === this.#recorded.inode && found.device === this.#recorded.device;
  }

  #readIdentity(): { readonly device: number; readonly inode: number } | undefined {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found === undefined ? undefined : { device: found.dev, inode: found.ino };
  }
}
