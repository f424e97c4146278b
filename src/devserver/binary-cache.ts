import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CLI_VERSION } from "./inspect-binary.ts";

/** Returns the folder of downloaded binaries: `HOLDFAST_CACHE`, or `~/.cache/holdfast`. */
export function getCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const configured = env["HOLDFAST_CACHE"];
  return configured === undefined || configured === "" ? join(homedir(), ".cache", "holdfast") : configured;
}

/** Returns the path of the binary. Its name contains the version, so that a new pin never finds an old file. */
export function getCachedBinaryPath(folder: string): string {
  return join(folder, `temporal-${CLI_VERSION}`);
}

/**
 * Runs `work` with an empty folder on the cache's own file system, and removes the folder afterwards.
 *
 * On the same file system, the final rename is atomic.
 */
export async function withStagingFolder<T>(cache: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(cache, `staging-${process.pid}-${randomUUID().slice(0, 8)}`);
  await mkdir(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Marks the file executable and renames it to its final path: readers see the whole file or none. */
export async function installFile(file: string, target: string): Promise<void> {
  await chmod(file, 0o755);
  await mkdir(dirname(target), { recursive: true });
  await rename(file, target);
}

export async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
