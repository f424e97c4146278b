import { decodeEscapes } from "./decode-escapes.ts";

export type ReadKey = {
  readonly name: string;
  /** The position of the value. */
  readonly end: number;
  /** What was not JSON about it. */
  readonly repair?: string;
  /** At least one quote is missing. */
  readonly isQuoteMissing?: true;
  /** No colon follows. */
  readonly isColonMissing?: true;
};

const QUOTED = /(\\?)(["'`])((?:(?!\2)[^\\\n]|\\(?!\2).){0,600})\1\2\s*(:+|\uff1a|=>|=)?\s*/y;
const TYPOGRAPHIC =
  /[\u201c\u201e\u00ab\u2018]([^\u201c\u201d\u00bb\u2019\n]{0,200})[\u201c\u201d\u00bb\u2019]\s*(:+|\uff1a|=>|=)\s*/y;
/** The signs of emphasis in Markdown stand around the quotes of the name, or around its colon as well. */
const EMPHASISED =
  /(\*{1,3}|_{1,3})(["'`]?)([\p{L}_$][\p{L}\p{N}_$ -]{0,200}?)\2(?:\1\s*(?::|\uff1a|=>|=)|(?::|\uff1a)\1)\s*/uy;
const UNCLOSED = /["'`\u201c]([\p{L}_$][\p{L}\p{N}_$-]{0,200})\s*(:+|\uff1a|=>|=)\s*/uy;
const UNQUOTED = /([\p{L}_$][\p{L}\p{N}_$-]{0,200})(["'`\u201d]?)\s*(:+|\uff1a|=>|=)\s*/uy;
const BEGINS_VALUE = /["'\u201c{[\d+-]|true|false|null|True|False|None/y;

/** Reads the name of a field and what separates it from its value. Returns `undefined` if there is none. */
export function readKey(text: string, at: number): ReadKey | undefined {
  const quoted = matchAt(QUOTED, text, at);
  if (quoted !== undefined) {
    const [whole, slash, quote, raw = "", colon] = quoted;
    const isStrict = quote === '"' && slash === "" && colon === ":";
    const end = at + whole.length;
    const read = {
      name: decodeEscapes(raw),
      end,
      ...(isStrict ? {} : { repair: "quotes or colons of names replaced" }),
    };
    if (colon !== undefined) return read;
    const inside = findColonInside(raw, quote!, text, end);
    if (inside === "doubtful") return undefined;
    if (inside === "colon") return { ...read, repair: "quotes or colons of names replaced" };
    if (raw !== "" && /^[\w$ -]+$/.test(raw) && matchAt(BEGINS_VALUE, text, end) !== undefined)
      return { ...read, repair: "missing colons added", isColonMissing: true };
  }
  const typographic = matchAt(TYPOGRAPHIC, text, at);
  if (typographic !== undefined) {
    const [whole, name = ""] = typographic;
    return { name, end: at + whole.length, repair: "quotes of another kind replaced" };
  }
  const emphasised = matchAt(EMPHASISED, text, at);
  if (emphasised !== undefined)
    return {
      name: emphasised[3] ?? "",
      end: at + emphasised[0].length,
      repair: "emphasis of names removed",
      ...(emphasised[2] === "" ? { isQuoteMissing: true } : {}),
    };
  const bare = matchAt(UNCLOSED, text, at) ?? matchAt(UNQUOTED, text, at);
  if (bare === undefined) return undefined;
  return {
    name: bare[1] ?? "",
    end: at + bare[0].length,
    repair: "missing quotes of names added",
    isQuoteMissing: true,
  };
}

const LITERAL = /(?:[+-]?\d[\d.eE+-]*|true|false|null)\s*[,}\]\n]/y;

/**
 * Tells whether the colon is inside of the quotes of a name, or the closing quote of the name is missing: then the quote
 * is the one that opens the value.
 *
 * @param end - The position after the quote and white space.
 */
function findColonInside(raw: string, quote: string, text: string, end: number): "colon" | "no" | "doubtful" {
  if (!/[:=\uff1a]\s*$/.test(raw)) return "no";
  const hasSpace = /\s/.test(text[end - 1] ?? "");
  const next = text[end];
  if (next === quote) {
    const isEmptyText = !hasSpace && /^\s*[,}\]]/.test(text.slice(end + 1, end + 100));
    return isEmptyText ? "no" : "colon";
  }
  const beginsValue = next === "{" || next === "[" || matchAt(LITERAL, text, end) !== undefined;
  if (!beginsValue) return "no";
  if (hasSpace) return "colon";
  return /\s$/.test(raw) ? "no" : "doubtful";
}

/** Reports whether nothing but a part of a name follows. */
export function endsWithinKey(text: string, at: number): boolean {
  return (
    /^\\?["'`\u201c]?[^"'`:{}[\],\n]*\\?["'`\u201d]?\s*[:=]?\s*$/.test(text.slice(at, at + 300)) &&
    text.length - at <= 300
  );
}

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
