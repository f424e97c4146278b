import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CLI_VERSION } from "./server-binary.ts";

/** Where fetched binaries are kept: `HOLDFAST_CACHE`, or `~/.cache/holdfast`. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const named = env["HOLDFAST_CACHE"];
  return named === undefined || named === "" ? join(homedir(), ".cache", "holdfast") : named;
}

/** The name carries the version, so that a new pin never meets an old file. */
export function cachedBinary(folder: string): string {
  return join(folder, `temporal-${CLI_VERSION}`);
}

/**
 * Runs `work` with an empty folder on the cache's own file system, and removes it afterwards.
 *
 * Being on the same file system makes the final rename atomic.
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

/** Marks the file executable and renames it into its place: readers see the whole file or none. */
export async function adopt(file: string, place: string): Promise<void> {
  await chmod(file, 0o755);
  await mkdir(dirname(place), { recursive: true });
  await rename(file, place);
}

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
