import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { parseJsonOrThrow } from "../../platform/text/json.ts";
import { check } from "../../schema/check.ts";
import { HoldfastError } from "../holdfast-error.ts";

const MANIFEST = "manifest.json";

const CopiedFile = z.strictObject({
  name: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: z.string(),
});
export type CopiedFile = z.infer<typeof CopiedFile>;

/** The contents of a backup, with sizes and checksums that prove its integrity. */
export const BackupManifest = z.strictObject({
  format: z.literal(1),
  /** The release of Holdfast that made the backup. */
  holdfast: z.string(),
  createdAt: z.string(),
  transcript: CopiedFile.extend({
    schema: z.number().int(),
    sessions: z.number().int(),
    /** The number of loops that were running. */
    running: z.number().int(),
  }),
  /** The dev server's store at the same moment; absent where the server has its store elsewhere. */
  server: CopiedFile.optional(),
  /** How long writers of the transcript waited for the backup. */
  writesBlockedMs: z.number(),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

export async function describeFile(folder: string, name: string): Promise<CopiedFile> {
  const path = join(folder, name);
  const file = await open(path, "r+");
  try {
    await file.sync();
    const { size } = await file.stat();
    return { name, bytes: size, sha256: await hashFile(path) };
  } finally {
    await file.close();
  }
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const file = await open(join(folder, MANIFEST), "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(manifest, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function readManifest(folder: string): Promise<BackupManifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw createManifestError(folder, error.message);
  });
  const manifest = parseJsonOrThrow(text, (reason) =>
    createManifestError(folder, `${MANIFEST}: it is not JSON: ${reason}`),
  );
  const checked = check(BackupManifest, manifest, "manifest");
  if (checked.ok) return checked.value;
  throw createManifestError(folder, `${MANIFEST}: ${checked.problems.join("; ")}`);
}

function createManifestError(folder: string, reason: string): HoldfastError {
  return new HoldfastError(
    "input-invalid",
    `${folder} is not a backup that this release can read: ${reason}`,
  );
}
