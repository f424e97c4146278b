import { closesText, findUnclosedEnd } from "./closing-quote.ts";
import { decodeEscapes, hasForeignEscape } from "./decode-escapes.ts";
import { BROKEN, type LooseSource, markCut } from "./loose-source.ts";
import { matchAt } from "./read-key.ts";

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
    // Had the text been cut off within this text, nothing after would look like the end of a value.
    if (from < source.lastEnd) return BROKEN;
    source.at = text.length;
    markCut(source, true);
    repairs.add("text cut off at the end");
    return decodeEscapes(dropPartialEscape(text.slice(from)));
  }
  const raw = text.slice(from, end.at);
  // The model began again within its text.
  if (
    source.quotes === "doubted" &&
    source.beginnings.some((at) => at > from && at < end.at && text[at - 1] === "\n")
  )
    return BROKEN;
  source.at = end.next;
  if (opening !== '"' && opening !== "") repairs.add("quotes of another kind replaced");
  if (end.isMissing) repairs.add("missing quotes closed");
  if (end.skipped > 0) repairs.add("quotes inside texts escaped");
  if (hasControlCharacter(raw)) repairs.add("control characters inside texts escaped");
  if (hasForeignEscape(raw)) repairs.add("escapes that JSON does not define read");
  return opening === '\\"' ? decodeEscapes(decodeEscapes(raw)) : decodeEscapes(raw);
}

/** Finds where the last text of a value ends that lacks its quote: the brackets that close the value follow. */
function findUnclosedRoot({ text, open }: LooseSource, from: number): TextEnd | undefined {
  const raw = text.slice(from);
  const found = /\s*([}\]\s]+)(?:```\s*|<\/\w+>\s*|[;)]\s*)?$/.exec(raw.slice(-1000));
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
  for (let at = from; at < text.length; at += 1) {
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
