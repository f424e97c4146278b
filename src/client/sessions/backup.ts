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
  /** The folder to create. It must not exist, or must be empty. */
  readonly folder: string;
  /** The release that makes the backup. */
  readonly version: string;
};

const TRANSCRIPT_COPY = "transcript.db";
const SERVER_COPY = "temporal.sqlite";

/** How long a backup waits for other writers. */
const WAIT_MS = 60_000;

/**
 * Copies the transcript and the dev server's store as they were at one moment, while runs are in progress.
 *
 * Other writers of the transcript wait until the copies are complete. A step is stored in the transcript before it is
 * reported to Temporal. While nobody can write to the transcript, Temporal's store cannot get ahead of it: the two copies
 * are as consistent as after a crash of everything.
 */
export async function writeBackup({ home, folder, version }: BackupOptions): Promise<BackupManifest> {
  const target = resolve(folder);
  await assertBackupTargetFree(target);
  if (!existsSync(home.transcript)) {
    throw new HoldfastError(
      "input-invalid",
      `There is nothing to back up: ${home.transcript} does not exist`,
    );
  }
  const part = join(dirname(target), `.${basename(target)}.part-${process.pid}`);
  await mkdir(part, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new HoldfastError(
      "input-invalid",
      `The backup cannot be written to ${target}: ${error.message}. Specify a folder that can be created.`,
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
        `The copy ${name} is damaged; its original may be damaged too: ${damage}`,
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
    writesBlockedMs: lockedMs,
  };
}

async function assertBackupTargetFree(target: string): Promise<void> {
  const found = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new HoldfastError(
      "input-invalid",
      `${target} cannot be used as the backup's folder: ${error.message}`,
    );
  });
  if (found.length === 0) return;
  throw new HoldfastError(
    "input-invalid",
    `${target} is not empty: specify a folder that does not exist yet`,
  );
}
