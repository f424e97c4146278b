import { closesText, findUnclosedEnd } from "./closing-quote.ts";
import { decodeEscapes, hasDoubtfulEscape, hasForeignEscape, isEscapedOnce } from "./decode-escapes.ts";
import { BROKEN, type LooseSource, markCut } from "./loose-source.ts";
import { matchAt } from "./read-key.ts";
import { spend } from "./step-budget.ts";

const OPENING = /"""|'''|\\?"|['`\u201c\u201e\u00ab\u2018]/y;
const BACKSLASHES = /\\+/y;

/** A text without its first quote. */
const UNOPENED = /[\p{L}\p{N}#`*_-][^"\n{}]*"/uy;

const CLOSING: Readonly<Record<string, string>> = {
  "\u201c": "\u201d",
  "\u201e": "\u201c\u201d",
  "\u00ab": "\u00bb",
  "\u2018": "\u2019",
};
/** What stands around a quote is looked at. */
const STEPS_OF_QUOTE = 200;

/** A character of a text with escapes. */
const STEPS_OF_DECODING = 4;

const CONCATENATION = /\s*\+\s*(?=["'`\u201c])/y;

export function beginsQuoted({ text, at }: LooseSource): boolean {
  return matchAt(OPENING, text, at) !== undefined;
}

/** Reads a text whose opening quote is missing. */
export function readUnopened(source: LooseSource): string | typeof BROKEN {
  if (source.quotes === "trusted" || matchAt(UNOPENED, source.text, source.at) === undefined) return BROKEN;
  source.repairs.add("missing quotes of texts added");
  return readOne(source);
}

/** Reads a text in quotes, and the texts that a plus sign appends to it. */
export function readQuoted(source: LooseSource): string | typeof BROKEN {
  let whole = "";
  for (;;) {
    const part = readOne(source);
    if (part === BROKEN) return BROKEN;
    whole += part;
    const plus = matchAt(CONCATENATION, source.text, source.at);
    if (plus === undefined) return whole;
    source.at += plus[0].length;
    source.repairs.add("texts joined by plus signs");
  }
}

function readOne(source: LooseSource): string | typeof BROKEN {
  const { text, repairs } = source;
  const opening = matchAt(OPENING, text, source.at)?.[0] ?? "";
  const from = source.at + opening.length;
  const end = findEnd(source, opening, from) ?? findUnclosedRoot(source, from);
  if (end === undefined) {
    // Had the text been cut off within this text, nothing after would look like the end of a text or value.
    const rest = text.slice(from);
    if (rest.includes("\\") && !spend(source.budget, STEPS_OF_DECODING * rest.length)) return BROKEN;
    if (from < source.lastEnd || hasClosingBrackets(rest)) return BROKEN;
    if (opening === '"' && UNESCAPED_QUOTE.test(rest)) return BROKEN;
    noteBreaks(source, opening, from, rest);
    source.at = text.length;
    markCut(source, true);
    repairs.add("text cut off at the end");
    return decodeEscapes(dropPartialEscape(rest));
  }
  const raw = text.slice(from, end.at);
  if (raw.includes("\\") && !spend(source.budget, STEPS_OF_DECODING * raw.length)) return BROKEN;
  // The model began again within its text.
  if (
    source.quotes === "doubted" &&
    source.beginnings.some((at) => at > from && at < end.at && text[at - 1] === "\n")
  )
    return BROKEN;
  if (isDoubtful(raw, opening, end)) return BROKEN;
  noteBreaks(source, opening, from, raw);
  source.at = end.next;
  if (opening !== '"' && opening !== "") repairs.add("quotes of another kind replaced");
  if (end.isMissing) repairs.add("missing quotes closed");
  if (end.skipped > 0) repairs.add("quotes inside texts escaped");
  if (hasControlCharacter(raw)) repairs.add("control characters inside texts escaped");
  if (hasForeignEscape(raw)) repairs.add("escapes that JSON does not define read");
  return opening === '\\"' ? decodeEscapes(decodeEscapes(raw)) : decodeEscapes(raw);
}

const UNESCAPED_QUOTE = /(?<!\\)(?:\\\\)*"/;
const SWALLOWED_FIELD = /(?<!\\)"\s*[,;]\s*"[^"\\\n]{1,100}"\s*:|\n[ \t]*"[^"\\\n]{1,100}"\s*[:=]/;

/** Reports whether a text may end elsewhere, or whether what its escapes and quotes mean depends on who wrote them. */
function isDoubtful(raw: string, opening: string, { isMissing, skipped }: TextEnd): boolean {
  // One of the quotes within the text may be the one that is missing at its end.
  if (opening === '"' && isMissing && UNESCAPED_QUOTE.test(raw)) return true;
  // Quotes that are doubled are escaped as in CSV, or one of the two is superfluous.
  if (skipped > 0 && (SWALLOWED_FIELD.test(raw) || /(?<!\\)"\s*"/.test(raw))) return true;
  // A text in quotes of two kinds has one of them too many.
  if (opening !== '"' && raw.length > 1 && raw.startsWith('"') && raw.endsWith('"')) return true;
  if (opening === "`" && (skipped > 0 || raw.startsWith('"'))) return true;
  if (raw.includes("\r\n") || hasDoubtfulEscape(raw) || (opening === '\\"' && isEscapedOnce(raw)))
    return true;
  // A program that replaced the quotes replaces apostrophes as well.
  return Object.hasOwn(CLOSING, opening) && /[\u2018\u2019\u201c-\u201e]/.test(raw);
}

/** Reports whether more brackets close in a text than open in it: they are not the text's own. */
function hasClosingBrackets(raw: string): boolean {
  return raw.split("}").length > raw.split("{").length;
}

/** Notes line breaks within texts, where they are not usual. */
function noteBreaks({ breaks }: LooseSource, opening: string, from: number, raw: string): void {
  if (opening === '"""' || opening === "'''" || opening === "`" || opening === '\\"') return;
  for (let at = raw.indexOf("\n"); at !== -1; at = raw.indexOf("\n", at + 1)) breaks.push(from + at);
}

/** Finds where the last text of a value ends that lacks its quote: the brackets that close the value follow. */
function findUnclosedRoot({ text, open }: LooseSource, from: number): TextEnd | undefined {
  const raw = text.slice(from);
  const found = /([}\]\s]+)(?:```\s*|<\/\w+>\s*|[;)]\s*)?$/.exec(raw.slice(-1000));
  const closing = found?.[1]?.replace(/\s/g, "");
  const expected = open.map(({ type }) => (type === "object" ? "}" : "]")).reverse();
  if (found === null || closing !== expected.join("")) return undefined;
  // Brackets of the text's own are balanced.
  const surplus = raw.split("}").length - raw.split("{").length;
  if (surplus < expected.filter((bracket) => bracket === "}").length) return undefined;
  const at = text.length - found[0].length;
  return { at, next: at, skipped: 0, isMissing: true };
}

type TextEnd = {
  readonly at: number;
  readonly next: number;
  readonly skipped: number;
  readonly isMissing: boolean;
};

/** Finds the end of a text; `undefined` if the source ends before. */
function findEnd(source: LooseSource, opening: string, from: number): TextEnd | undefined {
  const { text } = source;
  if (opening === '"""' || opening === "'''") {
    const at = text.indexOf(opening, from);
    return at === -1 ? undefined : { at, next: at + opening.length, skipped: 0, isMissing: false };
  }
  const isEscaped = opening === '\\"';
  const closers = isEscaped || opening === "" ? '"' : (CLOSING[opening] ?? opening);
  let skipped = 0;
  const { budget } = source;
  for (let at = from; at < text.length; at += 1) {
    if (budget.left < 0) return undefined;
    budget.left -= 1;
    const char = text[at]!;
    if (char === "\\" && isEscaped) {
      const slashes = matchAt(BACKSLASHES, text, at)?.[0].length ?? 0;
      // Of a text that is escaped twice, every backslash is written as two.
      const isClosing = slashes % 4 === 1 && text[at + slashes] === '"';
      at += slashes - (isClosing ? 1 : 0);
      if (!isClosing) continue;
    } else if (char === "\\") {
      at += 1;
      continue;
    }
    const width = isEscaped && char === "\\" ? 2 : !isEscaped && closers.includes(char) ? 1 : 0;
    if (width === 0) continue;
    const next = at + width;
    if (source.quotes === "doubted") budget.left -= STEPS_OF_QUOTE;
    const unclosed = source.quotes === "trusted" ? undefined : findUnclosedEnd(source, from, at);
    if (unclosed !== undefined) return { at: unclosed, next: unclosed, skipped, isMissing: true };
    if (source.quotes === "trusted" || closesText(source, next))
      return { at, next, skipped, isMissing: false };
    skipped += 1;
    at = next - 1;
  }
  return undefined;
}

function hasControlCharacter(raw: string): boolean {
  for (let at = 0; at < raw.length; at += 1) if (raw.charCodeAt(at) < 0x20) return true;
  return false;
}

/** Removes what cannot be decoded at the end of a cut text: the beginning of an escape, half a character. */
function dropPartialEscape(raw: string): string {
  const kept = raw.replace(/\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)$/, "");
  const slashes = /\\*$/.exec(kept)?.[0].length ?? 0;
  const whole = slashes % 2 === 1 ? kept.slice(0, -1) : kept;
  return /[\ud800-\udbff]$/.test(whole)
    ? whole.slice(0, -1)
    : whole.replace(/\\u[dD][89abAB][0-9a-fA-F]{2}$/, "");
}
