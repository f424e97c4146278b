import { type BigIntStats, constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Folder, followLink, locate, openFolder, type Root, refuseIrregular } from "./confine.ts";
import { hasCode, PathError } from "./system-error.ts";

/** The same bound as the kernel's own. */
const MAX_LINKS = 40;

/** A name in an open folder of the workspace: what a write replaces. */
export type Target = {
  readonly folder: Folder;
  readonly name: string;
  /** Identifies the file in this process. */
  readonly realPath: string;
};

/** A symbolic link stands for the file that it leads to, which must be in the workspace. */
export async function openTarget(
  root: Root,
  path: string,
  options: { create?: boolean } = {},
): Promise<Target> {
  let absolute = locate(root, path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    if (absolute === root.path || absolute === root.realPath) throw new PathError("it is a directory");
    const folder = await openFolder(root, dirname(absolute), options);
    const name = basename(absolute);
    try {
      const linked = await lstat(folder.at(name)).then(
        (stats) => stats.isSymbolicLink(),
        (error: unknown) => {
          if (hasCode(error, "ENOENT")) return false;
          throw error;
        },
      );
      if (!linked) return { folder, name, realPath: join(folder.realPath, name) };
      absolute = await followLink(root, path, folder.at(name));
    } catch (error) {
      await folder.handle.close();
      throw error;
    }
    await folder.handle.close();
  }
  throw new PathError("it leads through too many symbolic links");
}

/** Undefined when there is no such file. */
export async function statTarget(target: Target): Promise<BigIntStats | undefined> {
  try {
    const stats = await lstat(target.folder.at(target.name), { bigint: true });
    refuseIrregular(stats);
    return stats;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Reads a file that `statTarget` has found, and says what it was like when it was opened. */
export async function readTarget(
  target: Target,
  maxBytes: number,
): Promise<{ content: Buffer; stats: BigIntStats }> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(target.folder.at(target.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat({ bigint: true });
    refuseIrregular(stats);
    if (stats.size > maxBytes) throw new PathError(`it is larger than ${maxBytes} bytes`);
    return { content: await handle.readFile(), stats };
  } finally {
    await handle.close();
  }
}
