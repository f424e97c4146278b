import { getDecryptedOrigin } from "./column-encryption.ts";
import {
  ENCRYPTED_TABLES,
  type EncryptedColumnName,
  type EncryptedTableName,
  markForEncryption,
} from "./encrypted-columns.ts";
import { all, exec, type Value, type Work } from "./statement.ts";

/** How far it has come: a table, and the key of the last row that was looked at. */
export type RekeyCursor = {
  readonly table: EncryptedTableName;
  readonly behind?: readonly (string | number)[];
};

export type RekeyPage = {
  readonly looked: number;
  readonly changed: number;
  /** Where to go on; absent at the end. */
  readonly next?: RekeyCursor;
};

/** So that a page holds up nobody. */
const PAGE = 100;

/**
 * Seals the rows of one page anew that are not sealed with the key `to`; without one, all that is sealed becomes plain.
 *
 * Can be broken off and begun again at any time: what is done already is passed over.
 */
export function* rekeyPage(to: string | null, cursor?: RekeyCursor): Work<RekeyPage> {
  const at = cursor === undefined ? 0 : ENCRYPTED_TABLES.findIndex(([name]) => name === cursor.table);
  const [table, { key, columns, place: associatedKey = key }] = ENCRYPTED_TABLES[at]!;
  const names = [...new Set([...key, ...associatedKey, ...columns])].join(", ");
  if (cursor === undefined && to !== null) yield* clearSearchIndex();
  const after = cursor?.behind;
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
        // Whoever has written in between has sealed it anew.
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
    looked: rows.length,
    changed,
    ...(more
      ? { next: { table, behind: key.map((name) => last[name] as string | number) } }
      : following === undefined
        ? {}
        : { next: { table: following } }),
  };
}

/** The index of words would tell them. */
function* clearSearchIndex(): Work<void> {
  yield {
    text: "INSERT INTO search_words (search_words) VALUES ('delete-all')",
    postgres: "DELETE FROM search_words",
    values: [],
    gives: "nothing",
  };
}

/** What was sealed is not in the index of words: it is filled from the beginning. */
function* restartSearchIndex(): Work<void> {
  yield* exec("DELETE FROM search_fill");
  yield* exec(
    `INSERT INTO search_fill (branch, position, last)
     SELECT 0, -1, branches.ref FROM branches ORDER BY branches.ref DESC LIMIT 1`,
  );
}

/** Blobs come as array buffers where several rows are asked for. */
function toBuffer<Text extends string | Buffer | number | null>(value: Text): Exclude<Text, number | null> {
  return (typeof value === "string" ? value : Buffer.from(value as Buffer)) as Exclude<Text, number | null>;
}
