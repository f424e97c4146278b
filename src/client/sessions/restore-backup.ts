import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { getServerDatabasePath, type Home } from "../../config/home.ts";
import { findDamage } from "../../store/transcript/sqlite/copy-transcript.ts";
import { LATEST_VERSION } from "../../store/transcript/sqlite/migrations.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { type BackupManifest, type CopiedFile, hashFile, readManifest } from "./backup-manifest.ts";

export type RestoreBackupOptions = {
  readonly home: Home;
  readonly folder: string;
  /** Restores one of the two alone. Open runs need the other one as it was when the backup was made. */
  readonly only?: "transcript" | "server";
};

type FileTarget = { readonly file: CopiedFile; readonly to: string };

/** Restores a backup into a home that has neither file. Checks everything before it writes anything. */
export async function restoreFromBackup({
  home,
  folder,
  only,
}: RestoreBackupOptions): Promise<BackupManifest> {
  const from = resolve(folder);
  const manifest = await readManifest(from);
  const placed = selectFiles(manifest, home, only);
  for (const { to } of placed) assertTargetFree(to);
  if (manifest.transcript.schema > LATEST_VERSION) {
    const { schema, name } = manifest.transcript;
    const what = `${name} has schema version ${schema}, and this release reads ${LATEST_VERSION}`;
    throw new HoldfastError("input-invalid", `${what}: restore it with the release that made it`);
  }
  for (const { file } of placed) await assertFileIntact(from, file);
  for (const { file, to } of placed) await copyFileTo(join(from, file.name), to);
  return manifest;
}

function selectFiles(
  manifest: BackupManifest,
  home: Home,
  only: RestoreBackupOptions["only"],
): readonly FileTarget[] {
  const { transcript, server } = manifest;
  if (only === "server" && server === undefined) {
    throw new HoldfastError(
      "input-invalid",
      "This backup contains no server store: there was none in its home",
    );
  }
  return [
    ...(only === "server" ? [] : [{ file: transcript, to: home.transcript }]),
    ...(only === "transcript" || server === undefined
      ? []
      : [{ file: server, to: getServerDatabasePath(home.server) }]),
  ];
}

/** Rejects a target with leftover log files: SQLite would apply them to the restored file. */
function assertTargetFree(path: string): void {
  const existing = [path, `${path}-wal`, `${path}-shm`].filter((one) => existsSync(one));
  if (existing.length === 0) return;
  throw new HoldfastError(
    "input-invalid",
    `${existing.join(", ")} exists already, and nothing is overwritten: restore into another home (--home), or move it away`,
  );
}

async function assertFileIntact(from: string, { name, bytes, sha256 }: CopiedFile): Promise<void> {
  const path = join(from, name);
  const createDamageError = (description: string) =>
    new HoldfastError("store-failed", `The backup is damaged: ${path} ${description}`);
  if (!existsSync(path)) throw createDamageError("is missing");
  if ((await hashFile(path)) !== sha256)
    throw createDamageError(`is not the file of ${bytes} bytes that was written`);
  const damage = findDamage(path);
  if (damage !== undefined) throw createDamageError(`is corrupt: ${damage}`);
}

async function copyFileTo(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const draft = `${to}.part-${process.pid}`;
  try {
    await copyFile(from, draft);
    await chmod(draft, 0o600);
    const file = await open(draft, "r+");
    await file.sync();
    await file.close();
    await rename(draft, to);
  } catch (error) {
    await rm(draft, { force: true });
    throw new HoldfastError("store-failed", `${to} could not be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
