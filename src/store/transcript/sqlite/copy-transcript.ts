import { constants, copyFileSync, existsSync } from "node:fs";
import { inspectFile } from "./inspect-file.ts";
import { readVersion } from "./migrations.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";

// Copies of databases that are in use.

export type CopiedTranscript = {
  readonly schema: number;
  readonly sessions: number;
  /** The number of running loops. */
  readonly running: number;
};

/**
 * Blocks all writers of this transcript while `work` runs; readers continue.
 *
 * @throws StoreError `busy` if another process has locked it for `waitMs`.
 */
export async function withWriteLock<T>(path: string, waitMs: number, work: () => T): Promise<T> {
  if (inspectFile(path, "write") === "new")
    throw createStoreError("unreachable", path, "the file does not exist");
  const sql = new SqliteConnection(path);
  try {
    await retryWhileBusy(path, waitMs, () => sql.exec("BEGIN IMMEDIATE"));
    return work();
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    if (sql.inTransaction) sql.exec("ROLLBACK");
    sql.close();
  }
}

/**
 * Copies the files of a database that another program uses.
 *
 * An open reader prevents a restart of the log, and no process writes pages into the file that are not also in the log:
 * the copy of the file and then of the log together contain the last commit. `checkpointWal` merges them into one file.
 * SQL statements cannot do this: this SQLite may be able to read the schema but not to write it.
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

/** Merges the log of a copy into its file. */
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

/** Copies the current content of a transcript to a new file, even while other processes use it. */
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

/** Finds damage in the pages of a database, or returns undefined. */
export function findDamage(path: string): string | undefined {
  try {
    const sql = new SqliteConnection(path);
    try {
      const report = sql.get<{ integrity_check: string }>("PRAGMA integrity_check")?.integrity_check;
      return report === "ok" ? undefined : (report ?? "the check returned no result");
    } finally {
      sql.close();
    }
  } catch (error) {
    return toStoreError(error, path).message;
  }
}

/** Counts the sessions of a copy that no other process has open. */
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
