import { findBalancedEnd } from "../../platform/text/extract-json.ts";
import { isObject, parseJson } from "../../platform/text/json.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { skipThoughts } from "./list-candidates.ts";
import { findKnownField, findShape, hasKnownFields } from "./object-shape.ts";
import { readKey } from "./read-key.ts";
import { type StepBudget, spend } from "./step-budget.ts";

// An answer may have several objects with fields of its schema. One of them is not the answer because it matches alone.

/** The objects that are looked at. An answer with more has no value that is meant. */
const MAX_OBJECTS = 100;

/** The brackets that are looked at although they do not close: each may lead to the end of the text. */
const MAX_UNCLOSED = 8;

/** Where a value stands in the text. */
export type Range = { readonly from: number; readonly to: number };

/** What stands around a quote is looked at. */
const STEPS_OF_QUOTE = 100;

/** Reports whether the text has fields of the schema outside of these ranges, or has too much there to look at. */
export function hasFieldsOutside(
  {
    text,
    schema,
    budget,
  }: { readonly text: string; readonly schema: JsonSchema; readonly budget: StepBudget },
  ranges: readonly Range[],
): boolean {
  const shape = findShape(schema, schema);
  if (!hasKnownFields(shape)) return false;
  const isKnown = (at: number, isWithQuote: boolean) => {
    const key = readKey(text, at);
    return (
      key !== undefined &&
      key.isColonMissing !== true &&
      !(isWithQuote && key.isQuoteMissing === true) &&
      findKnownField(key.name, shape) !== undefined
    );
  };
  let at = skipThoughts(text);
  for (const range of [...ranges, { from: text.length, to: text.length }]) {
    for (const { 0: found, index } of text.slice(at, range.from).matchAll(/\{\s*|\\?["']/g)) {
      if (!spend(budget, STEPS_OF_QUOTE)) return true;
      const isQuote = !found.startsWith("{");
      if (isKnown(at + index + (isQuote ? 0 : found.length), isQuote)) return true;
    }
    at = Math.max(at, range.to);
  }
  return false;
}

/**
 * Reports whether the value that was found in a text is not all of the answer: another JSON object has fields of the
 * schema, or the value goes on after its end.
 */
export function isOnlyPart(text: string, value: unknown, schema: JsonSchema): boolean {
  const shape = findShape(schema, schema);
  if (!hasKnownFields(shape)) return false;
  const own = JSON.stringify(value);
  let at = text.indexOf("{", skipThoughts(text));
  let unclosed = 0;
  let isFound = false;
  for (let seen = 0; at !== -1 && seen < MAX_OBJECTS && unclosed < MAX_UNCLOSED; seen += 1) {
    const end = findBalancedEnd(text, at);
    if (end === -1) unclosed += 1;
    const parsed = end === -1 ? undefined : parseJson(text.slice(at, end));
    const json = parsed === undefined ? "" : JSON.stringify(parsed);
    if (json === own && !isFound && goesOn(text.slice(end))) return true;
    isFound ||= json === own;
    const isPart =
      isObject(parsed) && Object.keys(parsed).some((name) => findKnownField(name, shape) !== undefined);
    if (isPart && !own.includes(json)) return true;
    at = text.indexOf("{", parsed === undefined ? at + 1 : end);
  }
  return false;
}

/** Reports whether a value ends here that did not begin here: a quote within a text of it was not escaped. */
function goesOn(rest: string): boolean {
  return rest.split("}").length > rest.split("{").length && /(?<!\\)"\s*(?:,\s*)?[}\]]/.test(rest);
}

/** Merges objects whose fields are all known, and none of which has two values. */
export function mergeParts(
  parts: readonly Readonly<Record<string, unknown>>[],
  schema: JsonSchema,
): Readonly<Record<string, unknown>> | undefined {
  const shape = findShape(schema, schema);
  const merged = new Map<string, unknown>();
  for (const [written, value] of parts.flatMap((part) => Object.entries(part))) {
    const name = findKnownField(written, shape);
    if (name === undefined) return undefined;
    if (merged.has(name) && JSON.stringify(merged.get(name)) !== JSON.stringify(value)) return undefined;
    merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

/**
 * Drops the beginning of an answer that its author broke off to begin again with the same words.
 *
 * @param beginnings - Where objects with fields of the schema begin.
 */
export function dropRestart(text: string, beginnings: readonly number[]): string {
  const first = text.indexOf("{", skipThoughts(text));
  const again = beginnings.find(
    (at) => at > first && text[at - 1] === "\n" && text.startsWith(text.slice(first, at).trimEnd(), at),
  );
  return again === undefined || first === -1 ? text : text.slice(0, first) + text.slice(again);
}
