import { statSync } from "node:fs";
import { getReadOnlyLocation, inspectFile } from "./inspect-file.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";

/** Looked through at every opening: some tenths of a second at most. */
export const MAX_BYTES_AT_OPEN = 32 * 1024 * 1024;

/** Looked through for a person who asks: some seconds at most. */
const MAX_BYTES_ON_REQUEST = 1024 * 1024 * 1024;

/**
 * Looks whether the pages of a file hold together, and its indexes with them, where the file is small enough. It does not
 * see letters that were changed within a text.
 *
 * @throws StoreError `damaged`, with the first thing that was found.
 */
export function assertIntact(sql: SqliteConnection, path: string, maxBytes = MAX_BYTES_AT_OPEN): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) return;
  const found = sql.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check ?? "ok";
  if (found !== "ok")
    throw createStoreError("damaged", path, `the file does not hold together: ${found.trim()}`);
}

export type IntegrityResult =
  | { readonly type: "absent" | "sound" }
  | { readonly type: "too-large"; readonly bytes: number };

/**
 * For a person who asks whether a transcript is well.
 *
 * @throws StoreError when it is not.
 */
export function checkIntegrity(path: string, maxBytes = MAX_BYTES_ON_REQUEST): IntegrityResult {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return { type: "absent" };
  if (bytes > maxBytes) return { type: "too-large", bytes };
  inspectFile(path, "read");
  let sql: SqliteConnection | undefined;
  try {
    sql = new SqliteConnection(getReadOnlyLocation(path));
    assertIntact(sql, path, maxBytes);
    return { type: "sound" };
  } catch (error) {
    throw toStoreError(error, path);
  } finally {
    sql?.close();
  }
}
