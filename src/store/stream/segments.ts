import { mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

// A session's stream is a row of files of lines, named by the offset at which each begins. Any process appends to the
// newest, without a lock: a write at the end of a file is one step for the kernel.
//
// Invariants
//   F1. A file ends with its first seal. What a writer finds to have come behind that, it writes again in the next file.
//   F2. The next file is named by the offset behind the seal: nobody has to be asked for its name.
//   F3. The newest file is never removed by itself, so that offsets go on where they were.

/** Ends a file. No line of a delta begins like this. */
export const SEAL_LINE = "#sealed";
export const SEAL: Buffer = Buffer.from(`\n${SEAL_LINE}\n`);

/** Names the first file of a folder; the kernel lets one process make it. */
const FIRST = "first";
/** Where offsets begin, so that those of a folder that is made again are higher than before. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
/** More than a stream writes in a millisecond over its life; 2^53 is reached in 2093. */
const BYTES_A_MS = 4096;

const NAME = /^(\d{16})\.jsonl$/;

export function getSegmentPath(folder: string, base: number): string {
  return join(folder, `${String(base).padStart(16, "0")}.jsonl`);
}

/** The offsets at which a folder's files begin, in order; none where nothing was published yet. */
export async function listSegments(folder: string): Promise<readonly number[]> {
  const names = await ignoreMissing(readdir(folder));
  return (names ?? [])
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Where the first file of a folder begins, that has none; makes the folder. */
export async function createFirstBase(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const link = join(folder, FIRST);
  const base = Math.max(0, Date.now() - EPOCH_MS) * BYTES_A_MS;
  await symlink(String(base), link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return Number(await readlink(link));
}

/** What is no longer there is nothing. */
export async function ignoreMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
