import { statSync } from "node:fs";
import { createStoreError } from "./sqlite-faults.ts";

/**
 * Recognises a file. SQLite continues to write to a file that was deleted or moved, where its data would be lost, and
 * creates an empty file when it reopens the path.
 */
export class FileIdentity {
  readonly #path: string;
  #recorded: { readonly device: number; readonly inode: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Records the file of a connection that was just opened. */
  remember(): void {
    this.#recorded = this.#readIdentity();
  }

  /**
   * Checks whether the recorded file is the one at its path. Returns true before a file is recorded.
   *
   * @throws StoreError `unreachable` if the file no longer exists.
   */
  isUnchanged(): boolean {
    if (this.#recorded === undefined) return true;
    const found = this.#readIdentity();
    if (found === undefined) throw createStoreError("unreachable", this.#path, "the file no longer exists");
    return found.inode === this.#recorded.inode && found.device === this.#recorded.device;
  }

  #readIdentity(): { readonly device: number; readonly inode: number } | undefined {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    return found === undefined ? undefined : { device: found.dev, inode: found.ino };
  }
}
