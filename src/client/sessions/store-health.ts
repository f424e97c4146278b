import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { withWriteLock } from "../../store/transcript/sqlite/copy-transcript.ts";
import { getErrorMessage } from "../holdfast-error.ts";

export { checkIntegrity } from "../../store/transcript/sqlite/integrity.ts";

/** A writer that holds the transcript for longer than this keeps others waiting. */
const LOCKED_MS = 1000;

/** Below this an operator has to make room soon. */
const LOW_SPACE_BYTES = 200 * 1024 * 1024;

/** What keeps the transcript's file from being written to; nothing when all is well. */
export async function findWriteProblem(path: string): Promise<string | undefined> {
  return await withWriteLock(path, LOCKED_MS, () => undefined).then(
    () => undefined,
    (error: unknown) => getErrorMessage(error),
  );
}

/** Below this neither a server nor a transcript can begin. */
const FULL_BYTES = 1024 * 1024;

export type DiskSpace = { readonly isFull: boolean; readonly found: string };

/** Nothing while there is room enough on the disk that the folder lies on, or would lie on. */
export async function findLowDiskSpace(folder: string): Promise<DiskSpace | undefined> {
  const folderOnDisk = await findExistingFolder(folder);
  const disk = await statfs(folderOnDisk).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  // Some file systems count no files at all.
  if (disk.files > 0 && disk.ffree === 0)
    return { isFull: true, found: `no file more can be made at ${folderOnDisk}` };
  if (free >= LOW_SPACE_BYTES) return undefined;
  return {
    isFull: free < FULL_BYTES,
    found: `${Math.floor(free / 1024 / 1024)} MB are free at ${folderOnDisk}`,
  };
}

/** Live output is written below this folder; it is made when it is needed, where that is possible. */
export async function findLiveFolderProblem(folder: string): Promise<string | undefined> {
  return await access(await findExistingFolder(folder), constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** The folder itself, or the one above it that is there. */
export async function findExistingFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined || dirname(folder) === folder
    ? folder
    : await findExistingFolder(dirname(folder));
}
