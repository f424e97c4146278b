import { type BigIntStats, constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode, PathError } from "./system-error.ts";
import {
  assertRegularFile,
  followLink,
  type OpenFolder,
  openFolder,
  resolvePath,
  type WorkspaceRoot,
} from "./workspace-access.ts";

/** The kernel's own limit. */
const MAX_LINKS = 40;

/** A name in an open folder of the workspace: the target that a write replaces. */
export type FileTarget = {
  readonly folder: OpenFolder;
  readonly name: string;
  /** Identifies the file within this process. */
  readonly realPath: string;
};

/** Opens the target of a path. A symbolic link is followed, and the file that it leads to must be in the workspace. */
export async function openTarget(
  root: WorkspaceRoot,
  path: string,
  options: { create?: boolean } = {},
): Promise<FileTarget> {
  let absolute = resolvePath(root, path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    if (absolute === root.path || absolute === root.realPath) throw new PathError("it is a directory");
    const folder = await openFolder(root, dirname(absolute), options);
    const name = basename(absolute);
    try {
      const linked = await lstat(folder.getPath(name)).then(
        (stats) => stats.isSymbolicLink(),
        (error: unknown) => {
          if (hasCode(error, "ENOENT")) return false;
          throw error;
        },
      );
      if (!linked) return { folder, name, realPath: join(folder.realPath, name) };
      absolute = await followLink(root, path, folder.getPath(name));
    } catch (error) {
      await folder.handle.close();
      throw error;
    }
    await folder.handle.close();
  }
  throw new PathError("it leads through too many symbolic links");
}

/** Returns undefined if the file does not exist. */
export async function statTarget(target: FileTarget): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(target.folder.getPath(target.name), { bigint: true });
    assertRegularFile(stats);
    return stats;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Reads a file that `statTarget` has found, and returns its attributes at the time of opening. */
export async function readTarget(
  target: FileTarget,
  maxBytes: number,
): Promise<{ content: Buffer; stats: BigIntStats }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(target.folder.getPath(target.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    assertRegularFile(stats);
    if (stats.size > maxBytes) throw new PathError(`it is larger than ${maxBytes} bytes`);
    return { content: await handle.readFile(), stats };
  } finally {
    await handle.close();
  }
}
