import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { isWithin } from "./is-within.ts";
import { RepositoryError } from "./repository-error.ts";

/**
 * Opens a regular file of a work tree for reading. The file itself is opened first and its real path checked after that, so
 * that a link that is swapped in between leads nowhere. `.git` is not part of the work tree.
 */
export async function openWorktreeFile(
  top: string,
  path: string,
): Promise<{ handle: FileHandle; path: string; size: number }> {
  const absolute = path.includes("\0") ? "" : resolve(top, path);
  if (!isWithin(top, absolute)) throw outside(path);
  const handle = await openWithin(top, absolute, path);
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new RepositoryError("unknown-path", `${JSON.stringify(path)} is no regular file`);
    const real = await realpath(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : absolute);
    if (!isWithin(top, real)) throw outside(path);
    const relative = real.slice(top.length + 1);
    if (/(^|\/)\.git(\/|$)/i.test(relative)) {
      throw new RepositoryError(
        "unknown-path",
        `${JSON.stringify(path)} is in a git folder, which is not read`,
      );
    }
    return { handle, path: relative, size: stats.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opening a device or a socket outside could already have an effect, so the path is checked before as well. */
async function openWithin(top: string, absolute: string, path: string): Promise<FileHandle> {
  try {
    if (!isWithin(top, await realpath(absolute))) throw outside(path);
    return await open(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (cause instanceof RepositoryError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read (${code})`;
    throw new RepositoryError("unknown-path", `${JSON.stringify(path)} ${reason}`, { cause });
  }
}

function outside(path: string): RepositoryError {
  return new RepositoryError("unsafe", `${JSON.stringify(path)} is outside the work tree; name a file in it`);
}
