import { constants, copyFileSync, existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../store-error.ts";
import { inspectFile } from "./inspect-file.ts";
import { readVersion } from "./migrations.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";

// Copies of databases that are in use.

const LOCK_PAUSE_MS = 5;

export type CopiedTranscript = {
  readonly schema: number;
  readonly sessions: number;
  /** Loops that were at work. */
  readonly running: number;
};

/**
 * Holds everybody off who would write to this transcript while `work` runs; readers go on.
 *
 * @throws StoreError `busy` when another process has kept it locked for `waitMs`.
 */
export async function withWriteLock<T>(path: string, waitMs: number, work: () => T): Promise<T> {
  if (inspectFile(path, "write") === "new")
    throw createStoreError("unreachable", path, "there is no such file");
  const sql = new SqliteConnection(path);
  try {
    await acquireWriteLock(sql, path, waitMs);
    return work();
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    if (sql.inTransaction) sql.exec("ROLLBACK");
    sql.close();
  }
}

async function acquireWriteLock(sql: SqliteConnection, path: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      sql.exec("BEGIN IMMEDIATE");
      return;
    } catch (failure) {
      const error = toStoreError(failure, path);
      if (!(error instanceof StoreError) || error.fault !== "busy" || performance.now() >= deadline)
        throw error;
    }
    await pause(LOCK_PAUSE_MS);
  }
}

/**
 * Copies the files of a database of any program that is at work on it.
 *
 * A reader that stays where it is keeps the log from being begun anew, and nobody writes pages into the file that are not
 * in the log as well: the copy of the file and, behind it, of the log are together what was committed last. `fold` makes
 * one file of them. Statements do not do: the schema may be one that this SQLite reads and would not write.
 */
export function copyFiles(from: string, to: string): void {
  const sql = new SqliteConnection(from);
  try {
    sql.exec("BEGIN");
    sql.get("SELECT count(*) AS n FROM sqlite_master");
    for (const end of ["", "-wal"]) {
      if (existsSync(from + end)) copyFileSync(from + end, to + end, constants.COPYFILE_FICLONE);
    }
  } catch (error) {
    throw toStoreError(error, from);
  } finally {
    if (sql.inTransaction) sql.exec("ROLLBACK");
    sql.close();
  }
}

/** Brings the log of a copy into its file. */
export function checkpointWal(path: string): void {
  const sql = new SqliteConnection(path);
  try {
    sql.get("PRAGMA wal_checkpoint(TRUNCATE)");
    sql.get("PRAGMA journal_mode = DELETE");
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    sql.close();
  }
}

/** Writes what a transcript holds now into a new file, whoever is at work on it. */
export function copyTranscript(from: string, to: string): void {
  const sql = new SqliteConnection(from);
  try {
    sql.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    throw toStoreError(error, from);
  } finally {
    sql.close();
  }
}

/** What is wrong with the pages of a database; nothing when all is well. */
export function findDamage(path: string): string | undefined {
  try {
    const sql = new SqliteConnection(path);
    try {
      const report = sql.get<{ integrity_check: string }>("PRAGMA integrity_check")?.integrity_check;
      return report === "ok" ? undefined : (report ?? "it says nothing of itself");
    } finally {
      sql.close();
    }
  } catch (error) {
    return toStoreError(error, path).message;
  }
}

/** Of a copy that nobody else has open. */
export function countSessions(path: string): CopiedTranscript {
  const sql = new SqliteConnection(path);
  const count = (text: string) => sql.get<{ n: number }>(text)?.n ?? 0;
  try {
    return {
      schema: readVersion(sql),
      sessions: count("SELECT count(*) AS n FROM sessions"),
      running: count("SELECT count(*) AS n FROM loops WHERE status = 'running'"),
    };
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    sql.close();
  }
}
