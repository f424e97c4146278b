import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { readExpectedNumbers } from "./expected-texts.ts";
import { toPassOrFail } from "./outcome.ts";

/** A number in prose, in English notation: 42, -1.5, 1,234.50, .5 or 6.02e23. */
const NUMBER =
  /(?<sign>[-−+]?)(?<digits>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?<exponent>[eE][-+]?\d+)?/g;

/** Compares the first or the last number of the answer with the expected ones. */
export function scoreNumeric(
  { expected: own, tolerance, relativeTolerance, take }: ScorerOf<"numeric">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
): Score {
  const wanted = readExpectedNumbers(own, expected);
  if (wanted.type === "missing") return wanted.score;
  const found = findNumber(answer, take);
  if (found === undefined) return toPassOrFail(false, "The answer contains no number.");
  const isNear = (value: number) =>
    Math.abs(found - value) <= Math.max(tolerance, relativeTolerance * Math.abs(value));
  return toPassOrFail(wanted.values.some(isNear), `Compared: ${found}`);
}

/** Finds a number that stands for itself: digits of a name ("H2O") or a version ("1.2.3") do not. */
export function findNumber(text: string, take: "first" | "last"): number | undefined {
  let last: number | undefined;
  for (const match of text.matchAll(NUMBER)) {
    const { sign = "", digits = "", exponent = "" } = match.groups ?? {};
    const before = text.slice(Math.max(0, match.index - 2), match.index);
    if (sign === "" && /[\p{L}\p{N}_.]$/u.test(before)) continue;
    // After a number, a name or a bracket, a sign is an operator: "10-3".
    const isNegative = /[-−]/.test(sign) && !/[\p{L}\p{N}_)\]]$/u.test(before);
    const value = Number(digits.replaceAll(",", "") + exponent);
    if (!Number.isFinite(value)) continue;
    last = isNegative ? -value : value;
    if (take === "first") return last;
  }
  return last;
}
