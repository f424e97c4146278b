import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { holdingWriters } from "../../store/transcript/sqlite/snapshot.ts";
import { saidBy } from "../error.ts";

export { soundness } from "../../store/transcript/sqlite/soundness.ts";

/** A writer that holds the transcript for longer than this keeps others waiting. */
const LOCKED_MS = 1000;

/** Below this an operator has to make room soon. */
const LITTLE_ROOM_BYTES = 200 * 1024 * 1024;

/** What keeps the transcript's file from being written to; nothing when all is well. */
export async function writingTrouble(path: string): Promise<string | undefined> {
  return await holdingWriters(path, LOCKED_MS, () => undefined).then(
    () => undefined,
    (error: unknown) => saidBy(error),
  );
}

/** Below this neither a server nor a transcript can begin. */
const FULL_BYTES = 1024 * 1024;

export type Room = { readonly isFull: boolean; readonly found: string };

/** Nothing while there is room enough on the disk that the folder lies on, or would lie on. */
export async function littleRoom(folder: string): Promise<Room | undefined> {
  const place = await nearestExisting(folder);
  const disk = await statfs(place).catch(() => undefined);
  if (disk === undefined) return undefined;
  const free = disk.bavail * disk.bsize;
  // Some file systems count no files at all.
  if (disk.files > 0 && disk.ffree === 0)
    return { isFull: true, found: `no file more can be made at ${place}` };
  if (free >= LITTLE_ROOM_BYTES) return undefined;
  return { isFull: free < FULL_BYTES, found: `${Math.floor(free / 1024 / 1024)} MB are free at ${place}` };
}

/** Live output is written below this folder; it is made when it is needed, where that is possible. */
export async function liveTrouble(folder: string): Promise<string | undefined> {
  return await access(await nearestExisting(folder), constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** The folder itself, or the one above it that is there. */
export async function nearestExisting(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  return found !== undefined || dirname(folder) === folder ? folder : await nearestExisting(dirname(folder));
}
