import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { findKnownField, findShape } from "./object-shape.ts";
import { matchAt, readKey } from "./read-key.ts";
import type { RepairList } from "./repair-list.ts";
import { type StepBudget, spend } from "./step-budget.ts";

/** How the quotes of a text are read. */
export type QuoteMode =
  /** The next quote ends the text, as in JSON. */
  | "trusted"
  /** A quote ends the text only if what follows can follow a text: the author forgot to escape the others. */
  | "doubted";

/** A text that is read as JSON, and how far it is read. */
export type LooseSource = {
  readonly text: string;
  readonly quotes: QuoteMode;
  readonly root: JsonSchema;
  readonly repairs: RepairList;
  readonly budget: StepBudget;
  at: number;
  /** The containers that are open, from the outside. */
  readonly open: OpenContainer[];
  /** The last quote that a bracket follows: a value that ends in a text cannot end before it. */
  readonly lastEnd: number;
  /** Where an object begins whose first field is one of the root. */
  readonly beginnings: readonly number[];
  /** Where lines end within texts. */
  readonly breaks: number[];
  /** The way to the place where the text ends too early. */
  cut?: Cut;
};

export type OpenContainer = {
  readonly type: "object" | "list";
  readonly shape: JsonSchema | undefined;
  readonly names: Set<string>;
  /** The name or index of the value that is being read. */
  key?: string | number;
};

export type Cut = {
  /** Names and indexes from the root; the last is of the value that is incomplete, if there is one. */
  readonly path: readonly (string | number)[];
  /** The end of a text is missing. */
  readonly isWithinText: boolean;
};

/** What was found is not JSON, or saying what it means would be a guess. */
export const BROKEN = Symbol("broken");
/** The text ends before a value that could be used. */
export const MISSING = Symbol("missing");

export const FILLER =
  /(?:[\s\p{Cc}\p{Cf}]|\\(?:[nrt]|(?=\r?\n))|\/\/[^\n]{0,2000}(?=\n|$)|\/\*[\s\S]{0,2000}?\*\/|#[^\n]{0,2000}(?=\n|$)|<!--[\s\S]{0,2000}?-->|<\|[^|>\n]{1,40}\|>)+/uy;

/** What a comment says that stands for a part which the author left out. */
const ELLIPSIS = /\.\.\.|\u2026/;

/** Skips white space and comments. */
export function skipSpace(source: LooseSource): void {
  const found = matchAt(FILLER, source.text, source.at)?.[0];
  if (found === undefined || !spend(source.budget, found.length) || ELLIPSIS.test(found)) return;
  source.at += found.length;
  if (found.trim() !== "" && /\/\/|\/\*|#|<!--/.test(found)) source.repairs.add("comments removed");
  else if (/[^ \t\r\n]/.test(found)) source.repairs.add("white space of another kind replaced");
}

/** Reports whether the value cannot go on here: the text ends, or a fence or a tag closes. */
export function isAtEnd({ text, at }: LooseSource): boolean {
  return (
    at >= text.length || text.startsWith("```", at) || text.startsWith("~~~", at) || text.startsWith("</", at)
  );
}

export function markCut(source: LooseSource, isWithinText = false): void {
  if (source.cut !== undefined) return;
  const path = source.open.flatMap(({ key }) => (key === undefined ? [] : [key]));
  source.cut = { path, isWithinText };
}

const ENDS_VALUE = /(?<!\\)["'\u201d`]\s*(?:[,;]\s*)?[}\]]/g;

export function findLastEnd(text: string): number {
  let last = 0;
  for (const { index } of text.matchAll(ENDS_VALUE)) last = index;
  return last;
}

const MAX_BEGINNINGS = 100;

export function findBeginnings(text: string, root: JsonSchema): readonly number[] {
  const shape = findShape(root, root);
  const beginnings: number[] = [];
  for (const { 0: whole, index } of text.matchAll(/\{\s*/g)) {
    const key = readKey(text, index + whole.length);
    if (key !== undefined && findKnownField(key.name, shape) !== undefined) beginnings.push(index);
    if (beginnings.length === MAX_BEGINNINGS) break;
  }
  return beginnings;
}

/** Reports whether text after the end of a value belongs to it, and not to another value. */
export function hasTextToLastEnd({ lastEnd, beginnings }: LooseSource, from: number): boolean {
  return from < lastEnd && !beginnings.some((at) => at >= from && at < lastEnd);
}
