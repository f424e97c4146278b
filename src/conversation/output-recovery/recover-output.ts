import { isObject, parseJson } from "../../platform/text/json.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { fitValue, type MatchesSchema } from "./fit-value.ts";
import { type Candidate, listCandidates } from "./list-candidates.ts";
import {
  BROKEN,
  type Cut,
  findBeginnings,
  findLastEnd,
  hasTextToLastEnd,
  type LooseSource,
  MISSING,
  type QuoteMode,
} from "./loose-source.ts";
import { findKnownField, findShape, hasKnownFields } from "./object-shape.ts";
import { readLooseObject, readLooseValue } from "./read-loose-value.ts";
import { createRepairList, type RepairList } from "./repair-list.ts";

// Recovers the value of an output that does not match its schema (IRIS-16..19).
//
//   R1. A text whose value matches is not touched: the caller has looked for one before.
//   R2. The recovered value matches the schema.
//   R3. Nothing is invented: a value comes from the answer or is a default of the schema.
//   R4. No text is lost but what stands around the value, comments, and fields that the schema does not know.
//   R5. Any answer is read in bounded time: a few beginnings, each read twice at most.

export type Recovery = { readonly value: unknown; readonly repairs: readonly string[] };

/** The longest answer that is read. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  "#34": '"',
  "#39": "'",
  apos: "'",
  lt: "<",
  gt: ">",
  amp: "&",
};

/** Recovers the value of a text. Returns `undefined` if none can be read without a guess. */
export function recoverOutput(
  text: string,
  schema: JsonSchema,
  matches: MatchesSchema,
): Recovery | undefined {
  if (text.length > MAX_ANSWER_CHARS) return undefined;
  const inner = unwrapText(text);
  for (const candidate of listCandidates(inner.text, schema)) {
    for (const quotes of ["trusted", "doubted"] as const) {
      const repairs = createRepairList();
      if (inner.repair !== undefined) repairs.add(inner.repair);
      const read = readCandidate(inner.text, candidate, { quotes, schema, repairs });
      const recovery = read === undefined ? undefined : fitRead(read, schema, matches, repairs);
      if (recovery !== undefined) return recovery;
    }
  }
  return undefined;
}

/** Makes a value fit its schema; `undefined` if that is not possible without a guess. */
export function recoverValue(
  value: unknown,
  schema: JsonSchema,
  matches: MatchesSchema,
): Recovery | undefined {
  return fitRead({ value, cut: undefined }, schema, matches, createRepairList());
}

/** An object whose quotes are all escaped. */
const ESCAPED_OBJECT = /^\{(?:\s|\\[nrt])*\\"/;

/** Takes the text out of one more layer: JSON within a JSON text, or within a page. */
function unwrapText(text: string): { readonly text: string; readonly repair?: string } {
  const trimmed = text.trim();
  const parsed = trimmed.startsWith('"') ? parseJson(trimmed) : undefined;
  const inner = parsed ?? (ESCAPED_OBJECT.test(trimmed) ? parseJson(`"${trimmed}"`) : undefined);
  if (typeof inner === "string") return { text: inner, repair: "JSON text within the answer read" };
  if (/^>/.test(trimmed) && !/^(?!>)./m.test(trimmed))
    return { text: text.replace(/^\s*>[ \t]?/gm, ""), repair: "marks of a quotation removed" };
  if (!trimmed.includes('"') && trimmed.includes("&quot;")) {
    const decoded = text.replace(/&(quot|#34|#39|apos|lt|gt|amp);/g, (_, name: string) => ENTITIES[name]!);
    return { text: decoded, repair: "entities of HTML decoded" };
  }
  return { text };
}

type Read = { readonly value: unknown; readonly cut: Cut | undefined };

function readCandidate(
  text: string,
  { at, isWithoutBracket }: Candidate,
  {
    quotes,
    schema,
    repairs,
  }: { readonly quotes: QuoteMode; readonly schema: JsonSchema; readonly repairs: RepairList },
): Read | undefined {
  const source: LooseSource = {
    text,
    quotes,
    root: schema,
    repairs,
    at,
    open: [],
    lastEnd: findLastEnd(text),
    beginnings: findBeginnings(text, schema),
  };
  if (isWithoutBracket) repairs.add("missing brackets added");
  const value = isWithoutBracket ? readLooseObject(source, schema) : readLooseValue(source, schema);
  if (value === BROKEN || value === MISSING || goesOn(source)) return undefined;
  return { value, cut: source.cut };
}

/** Reports whether the value ended too early: what follows belongs to it. */
function goesOn(source: LooseSource): boolean {
  const { text, at } = source;
  if (/^[\s}\]]*,[\s,]*["'{]/.test(text.slice(at, at + 200))) return true;
  return hasTextToLastEnd(source, at);
}

function fitRead(
  { value, cut }: Read,
  schema: JsonSchema,
  matches: MatchesSchema,
  repairs: RepairList,
): Recovery | undefined {
  const shape = findShape(schema, schema);
  const fitted = fitValue(value, schema, { matches, repairs, cut });
  if (!isObject(fitted) || !matches(fitted, schema, schema)) return undefined;
  const isMeant =
    !hasKnownFields(shape) || Object.keys(fitted).some((name) => findKnownField(name, shape) !== undefined);
  return isMeant ? { value: fitted, repairs: repairs.list() } : undefined;
}
