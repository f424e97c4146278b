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

const QUOTED = /(\\?)(["'`])((?:(?!\2)[^\\\n]|\\(?!\2).)*)\1\2\s*(:+|\uff1a|=>|=)?\s*/y;
const TYPOGRAPHIC =
  /[\u201c\u201e\u00ab\u2018]([^\u201c\u201d\u00bb\u2019\n]*)[\u201c\u201d\u00bb\u2019]\s*(:+|\uff1a|=>|=)\s*/y;
const UNCLOSED = /["'`\u201c]([\p{L}_$][\p{L}\p{N}_$-]*)\s*(:+|\uff1a|=>|=)\s*/uy;
const UNQUOTED = /([\p{L}_$][\p{L}\p{N}_$-]*)(["'`\u201d]?)\s*(:+|\uff1a|=>|=)\s*/uy;
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
    if (raw !== "" && /^[\w$ -]+$/.test(raw) && matchAt(BEGINS_VALUE, text, end) !== undefined)
      return { ...read, repair: "missing colons added", isColonMissing: true };
  }
  const typographic = matchAt(TYPOGRAPHIC, text, at);
  if (typographic !== undefined) {
    const [whole, name = ""] = typographic;
    return { name, end: at + whole.length, repair: "quotes of another kind replaced" };
  }
  const bare = matchAt(UNCLOSED, text, at) ?? matchAt(UNQUOTED, text, at);
  if (bare === undefined) return undefined;
  return {
    name: bare[1] ?? "",
    end: at + bare[0].length,
    repair: "missing quotes of names added",
    isQuoteMissing: true,
  };
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
