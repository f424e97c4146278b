import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Home, serverDatabase } from "../../config/home.ts";
import { LATEST } from "../../store/transcript/sqlite/migrations.ts";
import { damageOf } from "../../store/transcript/sqlite/snapshot.ts";
import { HoldfastError } from "../error.ts";
import { type BackupManifest, type CopiedFile, readManifest, sha256Of } from "./backup-manifest.ts";

export type RestoreOptions = {
  readonly home: Home;
  readonly folder: string;
  /** One of the two alone: runs that go on must find the other as it was when the backup was made. */
  readonly only?: "transcript" | "server";
};

type Placed = { readonly file: CopiedFile; readonly to: string };

/** Puts a backup into a home that has none of it. Everything is checked before anything is written. */
export async function restore({ home, folder, only }: RestoreOptions): Promise<BackupManifest> {
  const from = resolve(folder);
  const manifest = await readManifest(from);
  const placed = wanted(manifest, home, only);
  for (const { to } of placed) mustBeFree(to);
  if (manifest.transcript.schema > LATEST) {
    const { schema, name } = manifest.transcript;
    const what = `${name} has schema version ${schema}, and this release reads ${LATEST}`;
    throw new HoldfastError("input-invalid", `${what}: restore it with the release that has made it`);
  }
  for (const { file } of placed) await mustBeWhole(from, file);
  for (const { file, to } of placed) await place(join(from, file.name), to);
  return manifest;
}

function wanted(manifest: BackupManifest, home: Home, only: RestoreOptions["only"]): readonly Placed[] {
  const { transcript, server } = manifest;
  if (only === "server" && server === undefined) {
    throw new HoldfastError(
      "input-invalid",
      "This backup has no store of a server: there was none in its home",
    );
  }
  return [
    ...(only === "server" ? [] : [{ file: transcript, to: home.transcript }]),
    ...(only === "transcript" || server === undefined
      ? []
      : [{ file: server, to: serverDatabase(home.server) }]),
  ];
}

/** A log that was left beside a file that is gone would be taken for the restored one's. */
function mustBeFree(path: string): void {
  const there = [path, `${path}-wal`, `${path}-shm`].filter((one) => existsSync(one));
  if (there.length === 0) return;
  throw new HoldfastError(
    "input-invalid",
    `${there.join(", ")} is there already, and nothing is overwritten: restore into another home (--home), or move it away`,
  );
}

async function mustBeWhole(from: string, { name, bytes, sha256 }: CopiedFile): Promise<void> {
  const path = join(from, name);
  const broken = (what: string) =>
    new HoldfastError("store-failed", `The backup is damaged: ${path} ${what}`);
  if (!existsSync(path)) throw broken("is not there");
  if ((await sha256Of(path)) !== sha256) throw broken(`is not the file of ${bytes} bytes that was written`);
  const damage = damageOf(path);
  if (damage !== undefined) throw broken(`is not whole: ${damage}`);
}

async function place(from: string, to: string): Promise<void> {
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
