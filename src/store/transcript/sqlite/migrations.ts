import { SCHEMA_2 } from "./schema.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError } from "./sqlite-faults.ts";
import { ADD_SUITES } from "./suite-schema.ts";

/** Marks a file as a transcript in its header: "Hold". */
export const APPLICATION_ID = 0x486f6c64;

/** JSON: the text, and who has given it. */
const ADD_TITLE = "ALTER TABLE sessions ADD COLUMN title TEXT";

/**
 * Step N migrates from version N - 1 to version N. Steps are only added, never changed. Version 1 was never released:
 * its tables had other names.
 */
export const MIGRATIONS: readonly string[] = ["", SCHEMA_2, ADD_TITLE, ADD_SUITES];
export const UNRELEASED_VERSION = 1;

export const LATEST_VERSION = MIGRATIONS.length;

export function readVersion(sql: SqliteConnection): number {
  return sql.get<{ user_version: number }>("PRAGMA user_version")?.user_version ?? 0;
}

/**
 * Migrates an open file to the newest version, inside the caller's write transaction: of two processes that
 * open a new file concurrently, the second finds the migration done.
 */
export function migrateFile(
  sql: SqliteConnection,
  path: string,
  atMs: number,
  migrations: readonly string[] = MIGRATIONS,
): void {
  const found = checkVersion(sql, path, migrations.length);
  if (found === 0) {
    sql.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    sql.exec("CREATE TABLE migrations (version INTEGER PRIMARY KEY, applied_at_ms INTEGER NOT NULL)");
  }
  for (let version = found + 1; version <= migrations.length; version++) {
    sql.exec(migrations[version - 1]!);
    sql.run("INSERT INTO migrations (version, applied_at_ms) VALUES (?, ?)", version, atMs);
  }
  if (found < migrations.length) sql.exec(`PRAGMA user_version = ${migrations.length}`);
}

/** Throws for a file that Holdfast must not write to. */
export function checkVersion(sql: SqliteConnection, path: string, known = LATEST_VERSION): number {
  const found = readVersion(sql);
  if (found > known) throw createNewerError(path, found, known);
  const tables = sql.get<{ n: number }>("SELECT count(*) AS n FROM sqlite_schema")?.n ?? 0;
  if (found === 0 && tables > 0) {
    throw createStoreError("other", path, "the file is the SQLite database of another program");
  }
  return found;
}

export function createUnreleasedError(path: string): Error {
  const problem =
    `the file has schema version ${UNRELEASED_VERSION}, which was never released; specify another file, ` +
    "or use the development version that made this one";
  return createStoreError("other", path, problem);
}

export function createNewerError(path: string, found: number, known: number): Error {
  return createStoreError(
    "newer",
    path,
    `the file has schema version ${found}, but this Holdfast supports versions up to ${known}`,
  );
}
