import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { holdingWriters } from "../transcript/sqlite/snapshot.ts";
import { saidBy } from "./error.ts";

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

/** Nothing while there is room enough. */
export async function littleRoom(folder: string): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({
    bavail: Number.POSITIVE_INFINITY,
    bsize: 1,
  }));
  const free = bavail * bsize;
  return free >= LITTLE_ROOM_BYTES ? undefined : `${Math.round(free / 1024 / 1024)} MB are free at ${folder}`;
}

/** Live output is written below this folder; it is made when it is needed. */
export async function liveTrouble(folder: string): Promise<string | undefined> {
  return await access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? undefined : error.message),
  );
}
