import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import { access, type FileHandle, open, readdir, rename, unlink } from "node:fs/promises";
import { type FileTarget, statTarget } from "./file-target.ts";
import { hasCode, PathError } from "./system-error.ts";

export type Replacement = {
  readonly content: Buffer;
  /** The file that is replaced. Undefined: it did not exist. */
  readonly replaces: BigIntStats | undefined;
  /** Fails if the file differs from `replaces` at the last moment. */
  readonly onlyIfUnchanged: boolean;
  /** Names the call: a second execution finds and removes the temporary file of a first one that died. */
  readonly key: string;
  /** Throws when the work must stop. Called before each step. */
  readonly checkpoint: () => void;
};

/**
 * Replaces the content of a file atomically: a reader sees the old content or the new, also after a power failure.
 * Preserves the mode and, if permitted, the owner. Does not preserve extended attributes and hard links.
 */
export async function replaceFile(target: FileTarget, replacement: Replacement): Promise<void> {
  const { folder, name } = target;
  const { replaces, checkpoint } = replacement;
  checkpoint();
  // A rename does not check whether the file is writable.
  if (replaces !== undefined) await access(folder.getPath(name), constants.W_OK);
  const prefix = `.holdfast-${createHash("sha256").update(replacement.key).digest("hex").slice(0, 16)}-`;
  checkpoint();
  for (const entry of await readdir(folder.getPath())) {
    if (entry.startsWith(prefix)) await unlinkIfExists(folder.getPath(entry));
  }
  checkpoint();
  const temporary = folder.getPath(`${prefix}${randomBytes(8).toString("hex")}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, replaces ? 0o600 : 0o666);
  try {
    await writeContent(handle, replacement);
    checkpoint();
    if (replacement.onlyIfUnchanged && !isSame(replaces, await statTarget(target))) {
      throw new PathError("it was changed by something else at the same time; read it and try again");
    }
    await rename(temporary, folder.getPath(name));
  } catch (error) {
    await unlinkIfExists(temporary);
    throw error;
  }
  await folder.handle.sync();
}

async function writeContent(
  handle: FileHandle,
  { content, replaces, checkpoint }: Replacement,
): Promise<void> {
  try {
    checkpoint();
    await handle.writeFile(content);
    if (replaces !== undefined) {
      const owner = [Number(replaces.uid), Number(replaces.gid)] as const;
      // Only root may change a file's owner; for any other user the owner stays.
      await handle.chown(...owner).catch(() => {});
      await handle.chmod(Number(replaces.mode) & 0o7777);
    }
    checkpoint();
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isSame(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  return (
    before.dev === now.dev &&
    before.ino === now.ino &&
    before.mtimeNs === now.mtimeNs &&
    before.size === now.size
  );
}

async function unlinkIfExists(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
}
