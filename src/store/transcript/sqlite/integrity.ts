import { statSync } from "node:fs";
import { getReadOnlyLocation, inspectFile } from "./inspect-file.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createStoreError } from "./sqlite-faults.ts";

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

/** How long a check on request waits for a lock. */
const BUSY_MS_ON_REQUEST = 10_000;

/**
 * Checks a transcript, and waits while another connection locks its file, as one does for a moment when it closes.
 *
 * @throws StoreError if it is damaged, must not be used, or stays locked for `busyMs`.
 */
export function checkIntegrity(
  path: string,
  { maxBytes = MAX_BYTES_ON_REQUEST, busyMs = BUSY_MS_ON_REQUEST } = {},
): Promise<IntegrityResult> {
  return retryWhileBusy(path, busyMs, () => checkUnlockedFile(path, maxBytes));
}

function checkUnlockedFile(path: string, maxBytes: number): IntegrityResult {
  if (inspectFile(path, "read") === "new") return { type: "absent" };
  const bytes = statSync(path).size;
  if (bytes > maxBytes) return { type: "too-large", bytes };
  let sql: SqliteConnection | undefined;
  try {
    sql = new SqliteConnection(getReadOnlyLocation(path));
    assertIntact(sql, path, maxBytes);
    return { type: "sound" };
  } finally {
    sql?.close();
  }
}
