import { mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

// A session's stream is a sequence of files of lines, named by the offset at which each begins. Any process appends to
// the newest file without a lock: the kernel appends atomically.
//
// Invariants
//   F1. A file ends with its first seal. A writer whose lines come after the seal writes them again to the next file.
//   F2. The name of the next file is the offset after the seal, so that every process can derive it.
//   F3. The newest file is never removed alone, so that offsets continue to increase.

/** The line that ends a file. No line of a delta begins like this. */
export const SEAL_LINE = "#sealed";
export const SEAL: Buffer = Buffer.from(`\n${SEAL_LINE}\n`);

/** The file that names the first segment of a folder. Only one process can create it. */
const FIRST = "first";
/** The base of offsets, so that the offsets of a recreated folder are higher than before. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
/** More than the average number of bytes that a stream writes per millisecond; 2^53 is reached in 2093. */
const BYTES_A_MS = 4096;

const NAME = /^(\d{16})\.jsonl$/;

export function getSegmentPath(folder: string, base: number): string {
  return join(folder, `${String(base).padStart(16, "0")}.jsonl`);
}

/** Lists the offsets at which a folder's files begin, in order; empty if nothing was published yet. */
export async function listSegments(folder: string): Promise<readonly number[]> {
  const names = await ignoreMissing(readdir(folder));
  return (names ?? [])
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Creates a folder and returns the offset of its first file. */
export async function createFirstBase(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const link = join(folder, FIRST);
  const base = Math.max(0, Date.now() - EPOCH_MS) * BYTES_A_MS;
  await symlink(String(base), link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return Number(await readlink(link));
}

/** Returns undefined if the file does not exist. */
export async function ignoreMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
