import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { getServerDatabasePath, type Home } from "../../config/home.ts";
import {
  checkpointWal,
  copyFiles,
  copyTranscript,
  countSessions,
  findDamage,
  withWriteLock,
} from "../../store/transcript/sqlite/copy-transcript.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { type BackupManifest, describeFile, writeManifest } from "./backup-manifest.ts";

export type BackupOptions = {
  readonly home: Home;
  /** Made; it must not be there, or be empty. */
  readonly folder: string;
  /** The release that makes it. */
  readonly version: string;
};

const TRANSCRIPT_COPY = "transcript.db";
const SERVER_COPY = "temporal.sqlite";

/** A backup waits this long for whoever writes. */
const WAIT_MS = 60_000;

/**
 * Copies the transcript and the dev server's store as they were at one moment, while runs are in flight.
 *
 * Whoever writes to the transcript waits meanwhile. A step is stored there before Temporal hears of it, so that while
 * nobody can write there, Temporal's store cannot get ahead of it: the two copies fit as after a crash of everything.
 */
export async function writeBackup({ home, folder, version }: BackupOptions): Promise<BackupManifest> {
  const target = resolve(folder);
  await assertBackupTargetFree(target);
  if (!existsSync(home.transcript)) {
    throw new HoldfastError("input-invalid", `There is nothing to back up: ${home.transcript} is not there`);
  }
  const part = join(dirname(target), `.${basename(target)}.part-${process.pid}`);
  await mkdir(part, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new HoldfastError(
      "input-invalid",
      `The backup cannot be written to ${target}: ${error.message}. Name a folder that can be made.`,
      { cause: error },
    );
  });
  try {
    const manifest = await copyStores(home, part, version);
    await writeManifest(part, manifest);
    await rmdir(target).catch(() => undefined);
    await rename(part, target);
    return manifest;
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    if (error instanceof StoreError) {
      throw new HoldfastError("store-failed", error.message, { cause: error });
    }
    throw error;
  }
}

async function copyStores(home: Home, part: string, version: string): Promise<BackupManifest> {
  const server = getServerDatabasePath(home.server);
  const hasServer = existsSync(server);
  const createdAt = new Date().toISOString();
  const lockedMs = await withWriteLock(home.transcript, WAIT_MS, () => {
    const startedAtMs = performance.now();
    if (hasServer) copyFiles(server, join(part, SERVER_COPY));
    copyTranscript(home.transcript, join(part, TRANSCRIPT_COPY));
    return Math.round(performance.now() - startedAtMs);
  });
  if (hasServer) checkpointWal(join(part, SERVER_COPY));
  for (const name of hasServer ? [TRANSCRIPT_COPY, SERVER_COPY] : [TRANSCRIPT_COPY]) {
    const damage = findDamage(join(part, name));
    if (damage !== undefined) {
      throw new HoldfastError(
        "store-failed",
        `The copy ${name} is damaged, as its original may be: ${damage}`,
      );
    }
  }
  return {
    format: 1,
    holdfast: version,
    createdAt,
    transcript: {
      ...(await describeFile(part, TRANSCRIPT_COPY)),
      ...countSessions(join(part, TRANSCRIPT_COPY)),
    },
    ...(hasServer ? { server: await describeFile(part, SERVER_COPY) } : {}),
    heldMs: lockedMs,
  };
}

async function assertBackupTargetFree(target: string): Promise<void> {
  const found = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new HoldfastError("input-invalid", `${target} cannot be a backup's folder: ${error.message}`);
  });
  if (found.length === 0) return;
  throw new HoldfastError("input-invalid", `${target} is not empty: name a folder that is not there yet`);
}
