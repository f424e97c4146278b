import pg from "pg";

/** A value of a statement. */
export type Value = string | number | null | Buffer;

const known = new Map<string, string>();

/** Replaces the `?` of a statement by `$1`, `$2`, …, which the server requires. A `?` within quotes is unchanged. */
export function numberPlaceholders(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  let count = 0;
  const numberedText = text.replace(/'(?:[^']|'')*'|"[^"]*"|\?/g, (part) =>
    part === "?" ? `$${++count}` : part,
  );
  if (known.size < MAX_KNOWN) known.set(text, numberedText);
  return numberedText;
}

/** Static statements are few. The limit prevents composed statements from filling the memory. */
const MAX_KNOWN = 2000;

/**
 * The server's texts cannot contain NUL. A noncharacter and a digit replace it, also in comparisons; another digit marks
 * the noncharacter itself.
 */
const MARK = "\uFDD0";

export function encodeValue(value: Value): Value {
  if (typeof value !== "string" || !/[\0\uFDD0]/.test(value)) return value;
  return value.replace(/[\0\uFDD0]/g, (found) => (found === "\0" ? `${MARK}0` : `${MARK}1`));
}

function decodeText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(/\uFDD0([01])/g, (_, digit) => (digit === "0" ? "\0" : MARK));
}

/** Parses a number. Throws if it would lose digits. */
function parseExactNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The number ${text} is too large to be exact`);
  return value;
}

const OID = { bool: 16, int8: 20, text: 25, float8: 701, varchar: 1043, numeric: 1700 };

const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [OID.bool, (text) => (text === "t" ? 1 : 0)],
  [OID.int8, parseExactNumber],
  [OID.float8, Number],
  [OID.numeric, Number],
  [OID.text, decodeText],
  [OID.varchar, decodeText],
]);

/** Parsers that return values like SQLite: numbers for integers, buffers for bytes, unchanged texts. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    (format === "binary" ? undefined : PARSERS.get(oid)) ??
    pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};
