import { all, exec, type StatementValue, type Value, type Work } from "./statement.ts";

// Statements about many rows. Each has one of a few lengths, so that engines prepare few texts.

/** Far below the engines' limits of values in a statement. */
const ROWS = 50;
const KEY_COUNTS = [1, 100, 1000];
const MAX_KEYS = 1000;

/**
 * Inserts rows, with few statements.
 *
 * @param conflict - What follows the rows; by default existing rows are unchanged.
 */
export function* insertRows(
  into: string,
  rows: readonly (readonly StatementValue[])[],
  conflict: { readonly text: string; readonly values: readonly StatementValue[] } = UNCHANGED,
): Work<void> {
  const full = rows.length - (rows.length % ROWS);
  for (let at = 0; at < rows.length; at += at < full ? ROWS : 1) {
    const page = rows.slice(at, at < full ? at + ROWS : at + 1);
    const places = page.map((row) => `(${row.map(() => "?").join(", ")})`).join(", ");
    yield* exec(`INSERT INTO ${into} VALUES ${places} ${conflict.text}`, ...page.flat(), ...conflict.values);
  }
}

const UNCHANGED = { text: "ON CONFLICT DO NOTHING", values: [] };

/**
 * Reads the rows of keys.
 *
 * @param text - Ends with the column of the key: `SELECT … WHERE key`.
 * @param values - Those of the text, before the keys.
 */
export function* readByKeys<Row>(
  text: string,
  keys: readonly (string | number)[],
  values: readonly Value[] = [],
): Work<readonly Row[]> {
  const distinct = [...new Set(keys)];
  const rows: Row[] = [];
  for (let at = 0; at < distinct.length; at += MAX_KEYS) {
    const page = distinct.slice(at, at + MAX_KEYS);
    const length = KEY_COUNTS.find((count) => count >= page.length)!;
    // A key that is repeated finds its row once.
    const padded = Array.from({ length }, (_, index) => page[index] ?? page[0]!);
    const places = padded.map(() => "?").join(", ");
    rows.push(...(yield* all<Row>(`${text} IN (${places})`, ...values, ...padded)));
  }
  return rows;
}
