import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { withWriteLock } from "../../store/transcript/sqlite/copy-transcript.ts";
import { getErrorMessage } from "../holdfast-error.ts";

export { checkIntegrity } from "../../store/transcript/sqlite/integrity.ts";

/** A writer that holds the transcript's lock for longer than this blocks others. */
const LOCKED_MS = 1000;

/** Below this limit, an operator must free space soon. */
const LOW_SPACE_BYTES = 200 * 1024 * 1024;

/** Returns why the transcript's file cannot be written; nothing if it can. */
export async function findWriteProblem(path: string): Promise<string | undefined> {
  return await withWriteLock(path, LOCKED_MS, () => undefined).then(
    () => undefined,
    (error: unknown) => getErrorMessage(error),
  );
}

/** Below this limit, neither a server nor a transcript can start. */
const FULL_BYTES = 1024 * 1024;

export type DiskSpace = { readonly isFull: boolean; readonly found: string };

/** Returns nothing while the disk of the folder, existing or not, has enough space. */
export async function findLowDiskSpace(folder: string): Promise<DiskSpace | undefined> {
  const folderOnDisk = await findExistingFolder(folder);
  const disk = await statfs(folderOnDisk).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  // Some file systems do not count files.
  if (disk.files > 0 && disk.ffree === 0)
    return { isFull: true, found: `no more files can be created at ${folderOnDisk}` };
  if (free >= LOW_SPACE_BYTES) return undefined;
  return {
    isFull: free < FULL_BYTES,
    found: `${Math.floor(free / 1024 / 1024)} MB are free at ${folderOnDisk}`,
  };
}

/** Returns why the folder of live output cannot be used. Creates the folder if possible. */
export async function findLiveFolderProblem(folder: string): Promise<string | undefined> {
  return await access(await findExistingFolder(folder), constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Returns the folder itself, or its nearest existing parent. */
export async function findExistingFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined || dirname(folder) === folder
    ? folder
    : await findExistingFolder(dirname(folder));
}
