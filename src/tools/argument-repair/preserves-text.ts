// Defines when a repair of loose JSON loses no text.
//
// The units of a source are its quoted texts, with their escapes decoded, and its words without quotes. Adjacent texts
// and words, and consecutive words, form one unit: a text with or without quotes. The units of a value are its keys,
// texts, numbers and words. A repair preserves the text if both have the same units in the
// same order, and
//
//   T1. a quoted text that stands alone is unchanged, character by character,
//   T2. any other unit keeps all its characters in order, and only white space, quotes and punctuation are added.
//
// A repair therefore fails if it drops a comment, an ellipsis, a broken escape or a duplicate key, splits one text into
// two or joins two texts, or invents something, such as `null` for a value that never arrived.

/** How complete the end of a source is, as far as the text itself shows. */
type SourceEnding =
  /** All brackets are closed. */
  | "closed"
  /** Brackets are missing after a complete value. */
  | "after-value"
  /** The source ends after a comma, a colon or an opening bracket, or within a text, a number or a word. */
  | "within";

type TextToken = { readonly content: string; readonly isQuoted: boolean };

export type ScannedSource = { readonly tokens: readonly TextToken[]; readonly ending: SourceEnding };

const PUNCTUATION = "{}[],:";

/** Literals of the languages that models mix with JSON. */
const LITERAL_ALIASES: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };

export function scan(source: string): ScannedSource {
  const tokens: TextToken[] = [];
  let depth = 0;
  let isWhole = false;
  let before: "apart" | "text" | "word" = "apart";
  let hasSpace = false;
  let at = 0;

  const add = (unit: TextToken): void => {
    const last = tokens.at(-1);
    const kind = unit.isQuoted ? "text" : "word";
    const areApart = before === "apart" || (hasSpace && before === "text" && kind === "text");
    if (last === undefined || areApart) tokens.push(unit);
    else tokens[tokens.length - 1] = { content: last.content + unit.content, isQuoted: false };
    before = kind;
    hasSpace = false;
  };

  while (at < source.length) {
    const char = source[at] as string;
    if (/\s/.test(char)) {
      hasSpace = true;
      at += 1;
    } else if (PUNCTUATION.includes(char)) {
      depth += "{[".includes(char) ? 1 : "}]".includes(char) ? -1 : 0;
      isWhole = "}]".includes(char);
      before = "apart";
      at += 1;
    } else if (char === '"' || char === "'") {
      const text = readQuoted(source, at);
      add({ content: text.content, isQuoted: true });
      if (!text.isClosed) return { tokens, ending: "within" };
      isWhole = true;
      at = text.end;
    } else {
      const found = readWord(source, at);
      const content = Object.hasOwn(LITERAL_ALIASES, found) ? LITERAL_ALIASES[found]! : found;
      add({ content: content, isQuoted: false });
      isWhole = content === "true" || content === "false" || content === "null";
      at += found.length;
    }
  }
  return { tokens, ending: depth <= 0 ? "closed" : isWhole ? "after-value" : "within" };
}

function readWord(source: string, from: number): string {
  let end = from;
  while (end < source.length && !/[\s"{}[\],:]/.test(source[end] as string)) end += 1;
  return source.slice(from, end);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function readQuoted(source: string, from: number): { content: string; end: number; isClosed: boolean } {
  const quote = source[from];
  let content = "";
  let at = from + 1;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === quote) return { content, end: at + 1, isClosed: true };
    if (char !== "\\") {
      content += char;
      at += 1;
      continue;
    }
    const escaped = source[at + 1] ?? "";
    const point = /^u[0-9a-fA-F]{4}/.exec(source.slice(at + 1, at + 6));
    if (point !== null) {
      content += String.fromCharCode(Number.parseInt(point[0].slice(1), 16));
      at += 6;
    } else {
      // An escape that JSON does not define is two characters of text.
      content += Object.hasOwn(ESCAPES, escaped) ? ESCAPES[escaped] : `\\${escaped}`;
      at += 2;
    }
  }
  return { content, end: at, isClosed: false };
}

export function preservesText({ tokens }: ScannedSource, value: unknown): boolean {
  const tokensOfValue = listTokens(value);
  return (
    tokensOfValue.length === tokens.length &&
    tokens.every(({ content, isQuoted }, index) => {
      const result = tokensOfValue[index] as string;
      return isQuoted
        ? content === result
        : isSubsequence(content, result) && stripPunctuation(content) === stripPunctuation(result);
    })
  );
}

function listTokens(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(listTokens);
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, field]) => [key, ...listTokens(field)]);
}

function isSubsequence(part: string, whole: string): boolean {
  let found = 0;
  for (let at = 0; at < whole.length && found < part.length; at++) if (whole[at] === part[found]) found += 1;
  return found === part.length;
}

function stripPunctuation(content: string): string {
  return content.replace(/[\s"'{}[\],:]/g, "");
}
