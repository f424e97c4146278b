import { findBalancedEnd } from "../../platform/text/extract-json.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { findKnownField, findShape } from "./object-shape.ts";
import { readKey } from "./read-key.ts";

/** Where an answer may hold its value. */
export type Candidate = {
  readonly at: number;
  /** The opening bracket is missing: the text begins with a field. */
  readonly isWithoutBracket?: true;
};

/** The beginnings of a value that are read in one answer, and fewer of a long one: reading each takes as long as it is. */
const MAX_CANDIDATES = 8;
const MIN_CANDIDATES = 2;
const MAX_CHARS_READ = 1_000_000;

/** The openings that are looked at for a beginning. */
const MAX_OPENINGS = 1000;

const BEGINS_OBJECT =
  /^\{(?:\s|\\[nrt]|\p{Cf}|\/\/[^\n]*\n|\/\*[^*]*\*\/|#[^\n]*\n|\{|,)*(?:[*_]{0,3}\\?["'`\u201c\u201e}]|[\p{L}_$][\p{L}\p{N}_$-]*["'`]?\s*[:=])/u;
const BEGINS_LIST = /^\[\s*\{/;
const AFTER_FENCE = /(?:```|~~~)[ \t]*[a-zA-Z0-9]*\s*$/;

/** Lists where a value may begin: after a fence first, then in the order of the text; never within another one. */
export function listCandidates(text: string, schema: JsonSchema): readonly Candidate[] {
  const from = skipThoughts(text);
  const bare = findBareFields(text, from, schema);
  const most = Math.max(MIN_CANDIDATES, Math.min(MAX_CANDIDATES, Math.floor(MAX_CHARS_READ / text.length)));
  const openings: number[] = [];
  let at = findOpening(text, from);
  for (let seen = 0; at !== -1 && seen < MAX_OPENINGS && openings.length < 2 * most; seen += 1) {
    const head = text.slice(at, at + 300);
    const begins = BEGINS_OBJECT.test(head) || BEGINS_LIST.test(head);
    if (begins) openings.push(at);
    const end = begins ? findBalancedEnd(text, at) : at + 1;
    at = end === -1 ? findOpeningOfLine(text, at + 1) : findOpening(text, end);
  }
  const isFenced = (position: number) => AFTER_FENCE.test(text.slice(Math.max(0, position - 40), position));
  const ordered = [...openings.filter(isFenced), ...openings.filter((position) => !isFenced(position))];
  const first = openings[0] ?? text.length;
  const all = ordered.map((position): Candidate => ({ at: position }));
  return (bare !== undefined && bare.at < first ? [bare, ...all] : all).slice(0, most);
}

function findOpening(text: string, from: number): number {
  const opening = /[{[]/g;
  opening.lastIndex = from;
  return opening.exec(text)?.index ?? -1;
}

/** After a value that does not end, another one begins at the beginning of a line: parts of a value are indented. */
function findOpeningOfLine(text: string, from: number): number {
  const found = text.indexOf("\n{", from);
  return found === -1 ? -1 : found + 1;
}

/** Skips what a model thought before it answered. */
export function skipThoughts(text: string): number {
  const end = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>\s*(?=\S)/.exec(text)?.[0].length;
  return end ?? 0;
}

/** Finds the fields of an object without an opening bracket: the text, or a line of it, begins with a known one. */
function findBareFields(text: string, from: number, schema: JsonSchema): Candidate | undefined {
  const shape = findShape(schema, schema);
  const line = /(?:^|\n)[^\S\n]*(?=["'])/g;
  // The line break before it belongs to the thoughts.
  line.lastIndex = Math.max(0, text.lastIndexOf("\n", from));
  for (let tries = 0; tries < MAX_CANDIDATES; tries += 1) {
    const found = line.exec(text);
    if (found === null) return undefined;
    const at = found.index + found[0].length;
    const key = readKey(text, at);
    if (key !== undefined && findKnownField(key.name, shape) !== undefined)
      return { at, isWithoutBracket: true };
    line.lastIndex = Math.max(at, line.lastIndex + 1);
  }
  return undefined;
}
