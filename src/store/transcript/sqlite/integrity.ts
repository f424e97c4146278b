import { statSync } from "node:fs";
import { getReadOnlyLocation, inspectFile } from "./inspect-file.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError, toStoreError } from "./sqlite-faults.ts";

/** The size of a file that is checked at every opening; the check takes at most some tenths of a second. */
export const MAX_BYTES_AT_OPEN = 32 * 1024 * 1024;

/** The size of a file that is checked on request; the check takes at most some seconds. */
const MAX_BYTES_ON_REQUEST = 1024 * 1024 * 1024;

/**
 * Checks that the pages and indexes of a file are consistent, if the file is small enough. It does not detect changed
 * characters within a text.
 *
 * @throws StoreError `damaged`, with the first problem found.
 */
export function assertIntact(sql: SqliteConnection, path: string, maxBytes = MAX_BYTES_AT_OPEN): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) return;
  const found = sql.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check ?? "ok";
  if (found !== "ok") throw createStoreError("damaged", path, `the file is inconsistent: ${found.trim()}`);
}

export type IntegrityResult =
  | { readonly type: "absent" | "sound" }
  | { readonly type: "too-large"; readonly bytes: number };

/**
 * Checks a transcript on the request of a user.
 *
 * @throws StoreError if it is damaged.
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
