import { getDecryptedOrigin } from "./column-encryption.ts";
import {
  ENCRYPTED_TABLES,
  type EncryptedColumnName,
  type EncryptedTableName,
  markForEncryption,
} from "./encrypted-columns.ts";
import { all, exec, type Value, type Work } from "./statement.ts";

/** The progress: a table, and the key of the last row that was processed. */
export type RekeyCursor = {
  readonly table: EncryptedTableName;
  readonly after?: readonly (string | number)[];
};

export type RekeyPage = {
  readonly examined: number;
  readonly changed: number;
  /** Where to continue; absent at the end. */
  readonly next?: RekeyCursor;
};

/** Small enough that a page does not delay other writers. */
const PAGE = 100;

/**
 * Re-encrypts the rows of one page that are not encrypted with the key `to`; without a key, decrypts them.
 *
 * It can be interrupted and restarted at any time: rows that are already done are skipped.
 */
export function* rekeyPage(to: string | null, cursor?: RekeyCursor): Work<RekeyPage> {
  const at = cursor === undefined ? 0 : ENCRYPTED_TABLES.findIndex(([name]) => name === cursor.table);
  const [table, { key, columns, associatedKey = key }] = ENCRYPTED_TABLES[at]!;
  const names = [...new Set([...key, ...associatedKey, ...columns])].join(", ");
  if (cursor === undefined && to !== null) yield* clearSearchIndex();
  const after = cursor?.after;
  const where = after === undefined ? "" : `WHERE (${key.join(", ")}) > (${key.map(() => "?").join(", ")})`;
  const rows = yield* all<Record<string, Value>>(
    `SELECT ${names} FROM ${table} ${where} ORDER BY ${key.join(", ")} LIMIT ${PAGE}`,
    ...(after ?? []),
  );
  let changed = 0;
  for (const row of rows) {
    for (const column of columns) {
      const value = row[column];
      if (value === null || value === undefined || typeof value === "number") continue;
      const origin = getDecryptedOrigin(row, column);
      if ((origin?.keyId ?? null) === to) continue;
      const getAssociatedData = (of: readonly string[]) => of.map((name) => row[name] as string | number);
      const encrypted = markForEncryption(
        toBuffer(value),
        `${table}.${column}` as EncryptedColumnName,
        ...getAssociatedData(associatedKey),
      );
      const same = key.map((name) => `${name} = ?`).join(" AND ");
      yield* exec(
        // A concurrent write has already used the new key.
        `UPDATE ${table} SET ${column} = ? WHERE ${same} AND ${column} = ?`,
        encrypted,
        ...getAssociatedData(key),
        toBuffer(origin?.stored ?? value),
      );
      changed += 1;
    }
  }
  const last = rows.at(-1);
  const more = rows.length === PAGE && last !== undefined;
  const following = ENCRYPTED_TABLES[at + 1]?.[0];
  if (to === null && !more && following === undefined) yield* restartSearchIndex();
  return {
    examined: rows.length,
    changed,
    ...(more
      ? { next: { table, after: key.map((name) => last[name] as string | number) } }
      : following === undefined
        ? {}
        : { next: { table: following } }),
  };
}

/** Clears the search index, which contains plain words. */
function* clearSearchIndex(): Work<void> {
  yield {
    text: "INSERT INTO search_index (search_index) VALUES ('delete-all')",
    postgres: "DELETE FROM search_index",
    values: [],
    returns: "nothing",
  };
}

/** Restarts the search index from the beginning, because it does not contain encrypted messages. */
function* restartSearchIndex(): Work<void> {
  yield* exec("DELETE FROM search_index_progress");
  yield* exec(
    `INSERT INTO search_index_progress (branch, position, last)
     SELECT 0, -1, branches.ref FROM branches ORDER BY branches.ref DESC LIMIT 1`,
  );
}

/** Converts blobs, which are array buffers in results of several rows. */
function toBuffer<Text extends string | Buffer | number | null>(value: Text): Exclude<Text, number | null> {
  return (typeof value === "string" ? value : Buffer.from(value as Buffer)) as Exclude<Text, number | null>;
}
