import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { readExpectedTexts } from "./expected-texts.ts";
import { toFailed, toPassOrFail, toUnscorable } from "./outcome.ts";

/**
 * The longest text to which a pattern of a suite is applied. A longer one is not cut, because the match could be in the rest.
 *
 * The bound does not protect from patterns whose time is exponential: callers must limit the time as well.
 */
export const MAX_MATCHED_CHARS = 100_000;

/** Applies a regular expression to the answer. One of several expected patterns, or values of a group, suffices. */
export function scoreRegex(
  { pattern, flags, group }: ScorerOf<"regex">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
): Score {
  if (group !== undefined && pattern === undefined) {
    return toFailed("A group is compared with the expected value, so the scorer needs a pattern of its own.");
  }
  if (answer.length > MAX_MATCHED_CHARS) {
    return toUnscorable(`The answer is longer than ${MAX_MATCHED_CHARS} characters.`);
  }
  if (pattern !== undefined && group === undefined) return matchAny([pattern], flags, answer);
  const wanted = readExpectedTexts(undefined, expected);
  if (wanted.type === "missing") return wanted.score;
  if (pattern === undefined) return matchAny(wanted.values, flags, answer);
  const compiled = compilePattern(pattern, flags);
  if (typeof compiled === "string") return toFailed(compiled);
  const matched = compiled.exec(answer);
  if (matched === null) return toPassOrFail(false, "The regular expression does not match.");
  const found = matched[group ?? 0];
  if (found === undefined) return toPassOrFail(false, `Group ${group} is not part of the match.`);
  return toPassOrFail(wanted.values.includes(found), `Group ${group}: ${JSON.stringify(found)}`);
}

function matchAny(patterns: readonly string[], flags: string, text: string): Score {
  const compiled = patterns.map((pattern) => compilePattern(pattern, flags));
  const problem = compiled.find((one) => typeof one === "string");
  if (problem !== undefined) return toFailed(problem);
  return toPassOrFail(compiled.some((one) => typeof one !== "string" && one.test(text)));
}

/** Returns the reason, as a sentence, if the pattern is not valid. */
export function compilePattern(pattern: string, flags: string): RegExp | string {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
