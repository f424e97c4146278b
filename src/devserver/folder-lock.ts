import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 50;

/** A lock without an owner file is being created. After this long its creator must have died. */
const INCOMPLETE_LOCK_MS = 2_000;

/**
 * Holds a lock folder while `work` runs, so that only one process of a machine runs it at a time.
 *
 * The lock of a dead process is broken.
 */
export async function withFolderLock<T>(lock: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const until = Date.now() + waitMs;
  while (!(await tryAcquire(lock))) {
    if (await isStale(lock)) await breakLock(lock);
    else if (Date.now() > until) throw new Error(`Another process has held ${lock} for ${waitMs / 1000} s`);
    else await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function tryAcquire(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  await writeFile(join(lock, "pid"), String(process.pid));
  return true;
}

async function isStale(lock: string): Promise<boolean> {
  const owner = Number(await readFile(join(lock, "pid"), "utf8").catch(() => ""));
  if (owner > 0) return !isAlive(owner);
  const stats = await stat(lock).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > INCOMPLETE_LOCK_MS;
}

/**
 * Moves the lock away before removing it, and moves it back if a faster process has already replaced it. Removing it in
 * place could remove the lock of a live owner.
 */
async function breakLock(lock: string): Promise<void> {
  const aside = `${lock}.broken-${process.pid}-${Date.now()}`;
  try {
    await rename(lock, aside);
  } catch {
    return;
  }
  if (!(await isStale(aside))) await rename(aside, lock).catch(() => {});
  await rm(aside, { recursive: true, force: true });
}

/** Checks whether a process id is in use. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
