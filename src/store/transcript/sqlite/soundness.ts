import { statSync } from "node:fs";
import { storeError, translated } from "./fault.ts";
import { inspect, readOnlyLocation } from "./inspect.ts";
import { Sql } from "./sql.ts";

/** Looked through at every opening: some tenths of a second at most. */
export const AT_OPENING_BYTES = 32 * 1024 * 1024;

/** Looked through for a person who asks: some seconds at most. */
const WHEN_ASKED_BYTES = 1024 * 1024 * 1024;

/**
 * Looks whether the pages of a file hold together, and its indexes with them, where the file is small enough. It does not
 * see letters that were changed within a text.
 *
 * @throws StoreError `damaged`, with the first thing that was found.
 */
export function mustBeSound(sql: Sql, path: string, maxBytes = AT_OPENING_BYTES): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) return;
  const found = sql.get<{ quick_check: string }>("PRAGMA quick_check(1)")?.quick_check ?? "ok";
  if (found !== "ok") throw storeError("damaged", path, `the file does not hold together: ${found.trim()}`);
}

export type Soundness =
  | { readonly type: "absent" | "sound" }
  | { readonly type: "too-large"; readonly bytes: number };

/**
 * For a person who asks whether a transcript is well.
 *
 * @throws StoreError when it is not.
 */
export function soundness(path: string, maxBytes = WHEN_ASKED_BYTES): Soundness {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return { type: "absent" };
  if (bytes > maxBytes) return { type: "too-large", bytes };
  inspect(path, "read");
  let sql: Sql | undefined;
  try {
    sql = new Sql(readOnlyLocation(path));
    mustBeSound(sql, path, maxBytes);
    return { type: "sound" };
  } catch (error) {
    throw translated(error, path);
  } finally {
    sql?.close();
  }
}
