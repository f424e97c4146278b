import { type Mutator, nameLossless, pick } from "../mutator.ts";
import { mapKeys, mapStrings, mapTexts } from "./json-parts.ts";

// Faults within strings, and of what encloses them.

export const STRINGS: readonly Mutator[] = nameLossless({
  "raw-newline": (text) => mapTexts(text, (literal) => decodeEscape(literal, "n", "\n")),
  "raw-tab": (text) => mapTexts(text, (literal) => decodeEscape(literal, "t", "\t")),
  "raw-control": (text) =>
    mapTexts(text, (literal) => literal.replaceAll("\\u001b", "\u001b").replaceAll("\\f", "\f")),
  "raw-all-controls": (text) =>
    mapTexts(text, (literal) =>
      decodeEscape(decodeEscape(literal, "n", "\n"), "t", "\t").replaceAll("\\u001b", "\u001b"),
    ),
  "inner-quotes": (text) => mapTexts(text, (literal) => `"${decodeEscape(literal.slice(1, -1), '"', '"')}"`),
  "inner-quotes-once": (text, random) => {
    const found = [...text.matchAll(/(?<!\\)(?:\\\\)*\\"/g)].map(
      ({ 0: whole, index }) => index + whole.length - 2,
    );
    if (found.length === 0) return text;
    const at = pick(random, found);
    return text.slice(0, at) + text.slice(at + 1);
  },
  "raw-backslash": (text) =>
    mapTexts(text, (literal) => literal.replace(/\\\\(?=[A-Zac-eg-moqsv-z.+*()[\]])/g, "\\")),
  "escaped-apostrophe": (text) => mapTexts(text, (literal) => literal.replaceAll("'", "\\'")),
  "escaped-backtick": (text) => mapTexts(text, (literal) => literal.replaceAll("`", "\\`")),
  "single-quotes": (text) => mapStrings(text, toSingleQuotes),
  "single-quoted-keys": (text) => mapKeys(text, toSingleQuotes),
  "typographic-quotes": (text) => mapStrings(text, toTypographic),
  "backtick-quotes": (text) =>
    mapTexts(text, (literal) => (/[`\\$]/.test(literal) ? literal : `\`${literal.slice(1, -1)}\``)),
  "triple-quotes": (text) =>
    mapTexts(text, (literal) =>
      literal.includes("\\n") && !literal.includes('\\"')
        ? `"""${decodeEscape(literal, "n", "\n").slice(1, -1)}"""`
        : literal,
    ),
  concatenation: (text, random) =>
    mapTexts(text, (literal) => {
      const spaces = [...literal.matchAll(/ /g)].map(({ index }) => index);
      if (spaces.length === 0 || random() < 0.5) return literal;
      const at = pick(random, spaces);
      return `${literal.slice(0, at)}" +\n "${literal.slice(at)}`;
    }),
  "unicode-escape-of-letters": (text) =>
    mapTexts(text, (literal) =>
      literal.replace(/[^ -~]/g, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`),
    ),
  "hexadecimal-escape": (text) => text.replaceAll("\\u001b", "\\x1b"),
});

/** Replaces `\` and the letter by the character, unless the backslash is itself escaped. */
function decodeEscape(literal: string, letter: string, character: string): string {
  return literal.replace(/\\(.)/gs, (whole, escaped: string) => (escaped === letter ? character : whole));
}

/** As Python writes it: in single quotes, unless the text has an apostrophe. */
function toSingleQuotes(literal: string): string {
  if (literal.includes("'")) return literal;
  return `'${decodeEscape(literal.slice(1, -1), '"', '"')}'`;
}

function toTypographic(literal: string): string {
  return `\u201c${literal.slice(1, -1)}\u201d`;
}
