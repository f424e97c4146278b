import { scoreEditDistance } from "../../../evaluation/scorers/edit-distance.ts";
import { scoreExact } from "../../../evaluation/scorers/exact.ts";
import { scoreIncludes } from "../../../evaluation/scorers/includes.ts";
import { type FindMismatch, scoreJson } from "../../../evaluation/scorers/json-fields.ts";
import { scoreCost, scoreTime, scoreTurns } from "../../../evaluation/scorers/measures.ts";
import { scoreNumeric } from "../../../evaluation/scorers/numeric.ts";
import { toFailed } from "../../../evaluation/scorers/outcome.ts";
import { scoreRegex } from "../../../evaluation/scorers/regex.ts";
import { scoreToolCalls } from "../../../evaluation/scorers/tool-calls.ts";
import { findSchemaErrors, loadValidator } from "../../../platform/json-schema/schema-validator.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";
import { formatCanonicalJson } from "../../../platform/text/canonical-json.ts";
import type { JsonSchema } from "../../../platform/text/schema-type.ts";
import type { Score } from "../../../schema/score.ts";
import type { ScoreSubject } from "../../../schema/score-subject.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import { findSchemaProblem } from "../../../tools/argument-repair/find-schema-problem.ts";
import { runWithTimeout } from "../../step/run-with-timeout.ts";

// Scorers that compute a score from the cell alone.

/** The limit of one scorer: a pattern of a suite, or of its schema, may take for ever. Nothing else runs meanwhile. */
export const COMPUTE_TIMEOUT_MS = 2_000;

/** The most mismatches that an explanation names. */
const MAX_MISMATCHES = 3;

type PlainScorer = ScorerOf<
  | "exact"
  | "includes"
  | "regex"
  | "numeric"
  | "json"
  | "edit-distance"
  | "tool-calls"
  | "cost"
  | "turns"
  | "time"
>;

/** Computes a score, and interrupts a scorer that takes too long. */
export function scorePlain(scorer: PlainScorer, subject: ScoreSubject): Score {
  const findMismatch =
    scorer.type === "json" && scorer.schema !== undefined ? createCheck(scorer.schema) : undefined;
  return runWithTimeout(
    COMPUTE_TIMEOUT_MS,
    () => computeScore(scorer, subject, findMismatch),
    () => toFailed(`The scorer took longer than ${COMPUTE_TIMEOUT_MS / 1000} s.`),
  );
}

function computeScore(
  scorer: PlainScorer,
  subject: ScoreSubject,
  findMismatch: FindMismatch | undefined,
): Score {
  switch (scorer.type) {
    case "exact":
      return scoreExact(scorer, subject);
    case "includes":
      return scoreIncludes(scorer, subject);
    case "regex":
      return scoreRegex(scorer, subject);
    case "numeric":
      return scoreNumeric(scorer, subject);
    case "json":
      return scoreJson(scorer, subject, findMismatch);
    case "edit-distance":
      return scoreEditDistance(scorer, subject);
    case "tool-calls":
      return scoreToolCalls(scorer, subject);
    case "cost":
      return scoreCost(scorer, subject);
    case "turns":
      return scoreTurns(scorer, subject);
    case "time":
      return scoreTime(scorer, subject);
    default:
      return assertNever(scorer);
  }
}

/** Throws if the schema cannot be used. */
function createCheck(given: JsonSchema): FindMismatch {
  loadValidator();
  const schema = getSameSchema(given);
  const problem = findSchemaProblem(schema);
  if (problem !== undefined) throw new TypeError(`The schema cannot be used: ${problem}`);
  return (value) => {
    const errors = findSchemaErrors(value, schema).slice(0, MAX_MISMATCHES);
    if (errors.length === 0) return undefined;
    return errors.map(({ instancePath, message }) => `${instancePath || "/"}: ${message}`).join("; ");
  };
}

/** The validator keeps each schema that it has compiled, and each cell brings a copy of the same few. */
const MAX_SCHEMAS = 256;
const schemas = new Map<string, JsonSchema>();

function getSameSchema(schema: JsonSchema): JsonSchema {
  const key = formatCanonicalJson(schema);
  const known = schemas.get(key);
  if (known !== undefined) return known;
  if (schemas.size >= MAX_SCHEMAS) schemas.delete(schemas.keys().next().value as string);
  schemas.set(key, schema);
  return schema;
}
