import type { BigIntStats } from "node:fs";
import { lstat, opendir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** What has been written since a moment. */
export type Growth = {
  /** Space of files that are newer than the moment. */
  readonly newBytes: number;
  /** Also the whole space of older files that have changed since: what they have grown by is not known. */
  readonly changedBytes: number;
};

/** `st_blocks` counts in this unit, whatever the file system. */
const BLOCK_BYTES = 512;

/** The clock that stamps files ticks up to every 10 milliseconds. */
const CLOCK_TICK_MS = 10;

/**
 * Counts the space of files and of the content of folders that have changed since a moment, and of deleted files that processes hold open.
 * On a network file system, the server's clock decides what has changed.
 *
 * @param isStopped - Asked before each file; ends the count early, with what was counted until then.
 * @param table - The process table of the sandbox: see count-processes.ts.
 */
export async function countGrowth(
  paths: readonly string[],
  sinceMs: number,
  isStopped: () => boolean = () => false,
  table?: string,
): Promise<Growth> {
  const seen = new Set<string>();
  let [newBytes, changedBytes] = [0, 0];
  const add = (facts: BigIntStats) => {
    if (Number(facts.ctimeMs) < sinceMs - CLOCK_TICK_MS) return;
    // A file with several names takes its space once.
    const id = `${facts.dev}:${facts.ino}`;
    if (seen.has(id)) return;
    seen.add(id);
    const bytes = Number(facts.blocks) * BLOCK_BYTES;
    changedBytes += bytes;
    if (Number(facts.birthtimeMs) >= sinceMs - CLOCK_TICK_MS) newBytes += bytes;
  };
  const addPath = async (path: string) => {
    const facts = await lstat(path, { bigint: true }).catch(() => undefined);
    if (facts !== undefined) add(facts);
  };
  const pending = [...paths];
  for (const folder of paths) await addPath(folder);
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    try {
      for await (const entry of await opendir(folder, { bufferSize: 256 })) {
        if (isStopped()) return { newBytes, changedBytes };
        const path = join(folder, entry.name);
        if (entry.isDirectory()) pending.push(path);
        await addPath(path);
      }
    } catch {
      // It is a file, has gone, or cannot be read.
    }
  }
  for (const facts of table === undefined ? [] : await listDeletedFiles(table)) add(facts);
  return { newBytes, changedBytes };
}

/** Finds open files without a name. Those of temporary file systems have their own bound, and are memory. */
async function listDeletedFiles(table: string): Promise<readonly BigIntStats[]> {
  const pids = await readdir(table).catch(() => []);
  const perProcess = pids
    .filter((name) => /^\d+$/.test(name))
    .map(async (pid) => {
      const folder = `${table}/${pid}/fd`;
      const descriptors = await readdir(folder).catch(() => []);
      return Promise.all(
        descriptors.map((descriptor) =>
          stat(`${folder}/${descriptor}`, { bigint: true }).catch(() => undefined),
        ),
      );
    });
  const files = (await Promise.all(perProcess)).flat();
  return files.filter((facts) => facts?.isFile() && facts.nlink === 0n) as BigIntStats[];
}
