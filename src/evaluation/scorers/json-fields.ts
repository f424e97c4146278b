import { extractJson } from "../../platform/text/extract-json.ts";
import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../../platform/text/json-depth.ts";
import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { isEqualJson } from "./compare-values.ts";
import { toFraction, toPassOrFail, toUnscorable } from "./outcome.ts";

/** Returns why a value does not match a schema, or `undefined` if it does. */
export type FindMismatch = (value: unknown) => string | undefined;

/**
 * Compares fields of the answer, which is JSON alone, in a fenced block or in prose.
 *
 * @param findMismatch - Checks the scorer's schema, for which this room has no validator. Absent: the scorer has none.
 */
export function scoreJson(
  { fields: own }: Pick<ScorerOf<"json">, "fields">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
  findMismatch?: FindMismatch,
): Score {
  const fields = own ?? (findMismatch === undefined ? expected : undefined);
  if (fields !== undefined && (!isObject(fields) || Object.keys(fields).length === 0)) {
    return toUnscorable("The expected value is not an object with fields.");
  }
  if (fields === undefined && findMismatch === undefined) {
    return toUnscorable("The case has no expected value.");
  }
  if (isTooDeep(answer)) return toPassOrFail(false, `The answer has more than ${MAX_JSON_DEPTH} levels.`);
  const found = extractJson(answer, (value) => findMismatch?.(value) === undefined);
  if (found.type !== "found") return toPassOrFail(false, found.reason);
  const mismatch = findMismatch?.(found.value);
  if (mismatch !== undefined) return toPassOrFail(false, mismatch);
  return fields === undefined ? toPassOrFail(true) : compareFields(found.value, fields);
}

function compareFields(value: unknown, fields: JsonObject): Score {
  const different = Object.entries(fields).filter(([path, wanted]) => {
    const found = findAtPath(value, path);
    return found === undefined || !isEqualJson(found.value, wanted);
  });
  const total = Object.keys(fields).length;
  const names = different.map(([path]) => path).join(", ");
  return toFraction(total - different.length, total, names === "" ? undefined : `Different: ${names}`);
}

/** Finds the value at a path. A key that contains dots is found by the path as a whole. */
function findAtPath(value: unknown, path: string): { readonly value: unknown } | undefined {
  if (isObject(value) && Object.hasOwn(value, path)) return { value: value[path] };
  let found: unknown = value;
  for (const key of path.split(".")) {
    if (Array.isArray(found) && /^\d+$/.test(key) && Number(key) < found.length) found = found[Number(key)];
    else if (isObject(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return { value: found };
}
