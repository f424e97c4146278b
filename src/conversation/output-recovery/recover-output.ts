import { isObject, parseJson } from "../../platform/text/json.ts";
import type { JsonSchema } from "../../platform/text/schema-type.ts";
import { AMBIGUOUS, fitValue, type MatchesSchema } from "./fit-value.ts";
import { areBreaksDoubtful } from "./line-breaks.ts";
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
import { dropRestart, hasFieldsOutside, mergeParts, type Range } from "./other-parts.ts";
import { readLooseObject, readLooseValue } from "./read-loose-value.ts";
import { createRepairList, type RepairList } from "./repair-list.ts";
import { createStepBudget } from "./step-budget.ts";
import { holdsFields } from "./unwrap-root.ts";
import { unwrapText } from "./unwrap-text.ts";

// Recovers the value of an output that does not match its schema (IRIS-16..19).
//
//   R1. A text whose value matches is not touched: the caller has looked for one before.
//   R2. The recovered value matches the schema.
//   R3. Nothing is invented: a value comes from the answer or is a default of the schema.
//   R4. No text is lost but what stands around the value, comments, and fields that the schema does not know.
//   R5. Any answer is read in a bounded number of steps: a few beginnings, each read a few times at most.
//   R6. What can be read in two ways is not read: a wrong value is worse than none.

export type Recovery = { readonly value: unknown; readonly repairs: readonly string[] };

/** The longest answer that is read. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024;

/** Recovers the value of a text. Returns `undefined` if none can be read without a guess. */
export function recoverOutput(
  text: string,
  schema: JsonSchema,
  matches: MatchesSchema,
): Recovery | undefined {
  if (text.length > MAX_ANSWER_CHARS) return undefined;
  const inner = unwrapText(text);
  if (inner === undefined) return undefined;
  const whole = dropRestart(inner.text, findBeginnings(inner.text, schema));
  const answer: Answer = {
    text: whole,
    schema,
    matches,
    repairs: whole === inner.text ? inner.repairs : [...inner.repairs, "broken-off beginning removed"],
    lastEnd: findLastEnd(whole),
    beginnings: findBeginnings(whole, schema),
    budget: createStepBudget(whole.length),
  };
  const candidates = listCandidates(whole, schema);
  for (const candidate of candidates) {
    const found = recoverCandidate(answer, candidate);
    if (found === "ambiguous") return undefined;
    if (found === undefined) continue;
    return hasFieldsOutside(answer, [found.range]) ? recoverParts(answer, candidates) : found.recovery;
  }
  return recoverParts(answer, candidates);
}

/** What is read of one answer. */
type Answer = Pick<LooseSource, "text" | "lastEnd" | "beginnings" | "budget"> & {
  readonly schema: JsonSchema;
  readonly matches: MatchesSchema;
  /** What was repaired to find the text. */
  readonly repairs: readonly string[];
};

type Found = { readonly recovery: Recovery; readonly range: Range };

function recoverCandidate(answer: Answer, candidate: Candidate): Found | "ambiguous" | undefined {
  for (const quotes of ["trusted", "doubted"] as const) {
    const repairs = createRepairList();
    for (const repair of answer.repairs) repairs.add(repair);
    const read = readCandidate(answer, candidate, { quotes, repairs });
    if (read === undefined) continue;
    const recovery = fitRead(read, answer.schema, answer.matches, repairs);
    if (recovery === "ambiguous") return recovery;
    if (recovery !== undefined) return { recovery, range: read.range };
    // What is JSON has no quotes to doubt.
    if (parseJson(answer.text.slice(read.range.from, read.range.to)) !== undefined) return undefined;
  }
  return undefined;
}

/** Recovers a value whose fields stand in several objects, one after another. */
function recoverParts(answer: Answer, candidates: readonly Candidate[]): Recovery | undefined {
  const { schema, matches } = answer;
  const repairs = createRepairList();
  for (const repair of [...answer.repairs, "several objects merged"]) repairs.add(repair);
  const reads: Read[] = [];
  for (const candidate of [...candidates].sort((one, other) => one.at - other.at)) {
    if (candidate.at < (reads.at(-1)?.range.to ?? 0)) continue;
    const options = { quotes: "trusted", repairs } as const;
    const read = readCandidate({ ...answer, lastEnd: 0 }, candidate, options);
    if (read !== undefined && read.cut === undefined && holdsFields(read.value, schema)) reads.push(read);
  }
  const parts = reads.flatMap(({ value }) => (isObject(value) ? [value] : []));
  const ranges = reads.map(({ range }) => range);
  if (parts.length < 2 || parts.length < reads.length || hasFieldsOutside(answer, ranges)) return undefined;
  const merged = mergeParts(parts, schema);
  if (merged === undefined) return undefined;
  const recovery = fitRead({ value: merged, cut: undefined }, schema, matches, repairs);
  return recovery === "ambiguous" ? undefined : recovery;
}

/** Makes a value fit its schema; `undefined` if that is not possible without a guess. */
export function recoverValue(
  value: unknown,
  schema: JsonSchema,
  matches: MatchesSchema,
): Recovery | undefined {
  const recovery = fitRead({ value, cut: undefined }, schema, matches, createRepairList());
  return recovery === "ambiguous" ? undefined : recovery;
}

type Read = { readonly value: unknown; readonly cut: Cut | undefined; readonly range: Range };

function readCandidate(
  { text, schema, lastEnd, beginnings, budget }: Answer,
  { at, isWithoutBracket }: Candidate,
  { quotes, repairs }: { readonly quotes: QuoteMode; readonly repairs: RepairList },
): Read | undefined {
  const source: LooseSource = {
    text,
    quotes,
    root: schema,
    repairs,
    budget,
    at,
    open: [],
    lastEnd,
    beginnings,
    breaks: [],
  };
  if (isWithoutBracket) repairs.add("missing brackets added");
  const value = isWithoutBracket ? readLooseObject(source, schema) : readLooseValue(source, schema);
  if (value === BROKEN || value === MISSING || goesOn(source) || budget.left < 0) return undefined;
  if (areBreaksDoubtful(text, source.breaks) || isWithinForeignText(text, at, source.at)) return undefined;
  return { value, cut: source.cut, range: { from: at, to: source.at } };
}

/** Reports whether the value is a text of another language, which has its own escapes, and has escapes. */
function isWithinForeignText(text: string, from: number, to: number): boolean {
  const quote = text[from - 1];
  return (quote === "'" || quote === "`") && text.slice(from, to).includes("\\");
}

/** Reports whether the value ended too early: what follows belongs to it. */
function goesOn(source: LooseSource): boolean {
  const { text, at } = source;
  if (/^[\s}\]]*,[\s,]*["'{]/.test(text.slice(at, at + 200))) return true;
  return hasTextToLastEnd(source, at);
}

function fitRead(
  { value, cut }: Omit<Read, "range">,
  schema: JsonSchema,
  matches: MatchesSchema,
  repairs: RepairList,
): Recovery | "ambiguous" | undefined {
  const shape = findShape(schema, schema);
  const fitted = fitValue(value, schema, { matches, repairs, cut });
  if (fitted === AMBIGUOUS) return holdsFields(value, schema) ? "ambiguous" : undefined;
  if (!isObject(fitted) || !matches(fitted, schema, schema)) return undefined;
  const isMeant =
    !hasKnownFields(shape) || Object.keys(fitted).some((name) => findKnownField(name, shape) !== undefined);
  return isMeant ? { value: fitted, repairs: repairs.list() } : undefined;
}
