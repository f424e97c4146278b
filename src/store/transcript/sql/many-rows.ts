import { all, exec, type StatementValue, type Work } from "./statement.ts";

// Statements about many rows. Each has one of two lengths, so that engines prepare few texts: full ones, and single ones.

/** Far below the engines' limits of values in a statement. */
const ROWS = 50;
const KEYS = 100;

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

/** Reads the rows of keys. `text` ends with a column: `SELECT … WHERE key`. */
export function* readByKeys<Row>(text: string, keys: readonly string[]): Work<readonly Row[]> {
  const distinct = [...new Set(keys)];
  const rows: Row[] = [];
  for (let at = 0; at < distinct.length; at += KEYS) {
    const page = distinct.slice(at, at + KEYS);
    const length = page.length === 1 ? 1 : KEYS;
    // A key that is repeated finds its row once.
    const padded = Array.from({ length }, (_, index) => page[index] ?? page[0]!);
    rows.push(...(yield* all<Row>(`${text} IN (${padded.map(() => "?").join(", ")})`, ...padded)));
  }
  return rows;
}
