import { constants, copyFileSync, existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { StoreError } from "../store-error.ts";
import { storeError, translated } from "./fault.ts";
import { inspect } from "./inspect.ts";
import { versionOf } from "./migrations.ts";
import { Sql } from "./sql.ts";

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
export async function holdingWriters<T>(path: string, waitMs: number, work: () => T): Promise<T> {
  if (inspect(path, "write") === "new") throw storeError("unreachable", path, "there is no such file");
  const sql = new Sql(path);
  try {
    await locked(sql, path, waitMs);
    return work();
  } catch (error) {
    throw translated(error, path);
  } finally {
    if (sql.inTransaction) sql.exec("ROLLBACK");
    sql.close();
  }
}

async function locked(sql: Sql, path: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      sql.exec("BEGIN IMMEDIATE");
      return;
    } catch (thrown) {
      const error = translated(thrown, path);
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
  const sql = new Sql(from);
  try {
    sql.exec("BEGIN");
    sql.get("SELECT count(*) AS n FROM sqlite_master");
    for (const end of ["", "-wal"]) {
      if (existsSync(from + end)) copyFileSync(from + end, to + end, constants.COPYFILE_FICLONE);
    }
  } catch (error) {
    throw translated(error, from);
  } finally {
    if (sql.inTransaction) sql.exec("ROLLBACK");
    sql.close();
  }
}

/** Brings the log of a copy into its file. */
export function fold(path: string): void {
  const sql = new Sql(path);
  try {
    sql.get("PRAGMA wal_checkpoint(TRUNCATE)");
    sql.get("PRAGMA journal_mode = DELETE");
  } catch (error) {
    throw translated(error, path);
  } finally {
    sql.close();
  }
}

/** Writes what a transcript holds now into a new file, whoever is at work on it. */
export function copyTranscript(from: string, to: string): void {
  const sql = new Sql(from);
  try {
    sql.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
  } catch (error) {
    throw translated(error, from);
  } finally {
    sql.close();
  }
}

/** What is wrong with the pages of a database; nothing when all is well. */
export function damageOf(path: string): string | undefined {
  try {
    const sql = new Sql(path);
    try {
      const said = sql.get<{ integrity_check: string }>("PRAGMA integrity_check")?.integrity_check;
      return said === "ok" ? undefined : (said ?? "it says nothing of itself");
    } finally {
      sql.close();
    }
  } catch (error) {
    return translated(error, path).message;
  }
}

/** Of a copy that nobody else has open. */
export function lookInto(path: string): CopiedTranscript {
  const sql = new Sql(path);
  const count = (text: string) => sql.get<{ n: number }>(text)?.n ?? 0;
  try {
    return {
      schema: versionOf(sql),
      sessions: count("SELECT count(*) AS n FROM sessions"),
      running: count("SELECT count(*) AS n FROM loops WHERE status = 'running'"),
    };
  } catch (error) {
    throw translated(error, path);
  } finally {
    sql.close();
  }
}
