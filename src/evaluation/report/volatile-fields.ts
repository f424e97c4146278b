import type { Scorer } from "../../schema/scorer.ts";

/**
 * What differs between two runs of a suite with the same answers: ids and times of runs, durations, and what was paid now or
 * reused. `scoreTypes` are the scores that are durations: entries about them are volatile as a whole.
 */
export const VOLATILE_FIELDS = {
  fields: [
    "id",
    "createdAtMs",
    "startedAtMs",
    "endedAtMs",
    "medianDurationMs",
    "paidUsd",
    "paidAnswers",
    "storedAnswers",
    "reused",
  ],
  scoreTypes: ["time"],
} as const satisfies { readonly fields: readonly string[]; readonly scoreTypes: readonly Scorer["type"][] };

const FIELDS: ReadonlySet<string> = new Set(VOLATILE_FIELDS.fields);
const SCORE_TYPES: ReadonlySet<unknown> = new Set(VOLATILE_FIELDS.scoreTypes);

/** Fields whose names are data: they are kept whatever they are called. */
const RECORDS: ReadonlySet<string> = new Set(["parameters", "failures", "outcomes"]);

/** Reports whether an entry is about a score that is a duration. */
export function isVolatileScore({ type }: { readonly type: Scorer["type"] }): boolean {
  return SCORE_TYPES.has(type);
}

/**
 * Returns a report without its volatile fields. The JSON of what is left is the same, byte for byte, for two runs of a suite
 * with the same answers.
 */
export function removeVolatileFields(report: object): unknown {
  return removeFrom(report);
}

function removeFrom(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((entry) => !isVolatileEntry(entry)).map(removeFrom);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !FIELDS.has(name))
      .map(([name, field]) => [name, RECORDS.has(name) ? field : removeFrom(field)]),
  );
}

function isVolatileEntry(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "type" in entry && SCORE_TYPES.has(entry.type);
}
