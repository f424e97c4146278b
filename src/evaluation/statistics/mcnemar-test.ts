import { assertCount } from "./arguments.ts";
import { computeTail, DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { computeNormalQuantile } from "./normal-distribution.ts";

/** How much two pass rates differ on the same tasks. */
export type McnemarResult = {
  /** The pass rate of the first agent minus that of the second. */
  readonly difference: number;
  /** The probability of counts at least as unequal if the agents were equally good. */
  readonly pValue: number;
  readonly interval: Interval;
};

/**
 * Compares the pass rates of two agents on the same tasks: McNemar's test, exact and two-sided.
 *
 * Source of the test: Q. McNemar, "Note on the Sampling Error of the Difference between Correlated Proportions or
 * Percentages", Psychometrika 12, 1947. Tasks on which both agents pass or both fail say nothing about which is better, so
 * the test is binomial: a fair coin for each other task.
 *
 * Source of the interval: A. Agresti and Y. Min, "Simple Improved Confidence Intervals for Comparing Matched Proportions",
 * Statistics in Medicine 24, 2005. It is Wald's interval after half a task is added to each of the four cells:
 * d ± z * sqrt((b + c - (b - c)^2 / n) / n^2) with d = (b - c) / n.
 *
 * @param onlyFirst - On how many tasks only the first agent passes.
 * @param onlySecond - On how many tasks only the second agent passes.
 * @param n - The number of all tasks.
 */
export function testMcnemar(
  onlyFirst: number,
  onlySecond: number,
  n: number,
  confidence = DEFAULT_CONFIDENCE,
): McnemarResult {
  assertCount("The number of tasks", n, 1);
  assertCount("The number of tasks that only the first agent passes", onlyFirst, 0, n);
  assertCount("The number of tasks that only the second agent passes", onlySecond, 0, n - onlyFirst);
  const lower = computeCoinTail(Math.min(onlyFirst, onlySecond), onlyFirst + onlySecond);
  return {
    difference: (onlyFirst - onlySecond) / n,
    pValue: Math.min(1, 2 * lower),
    interval: computeDifferenceInterval(onlyFirst + 0.5, onlySecond + 0.5, n + 2, computeTail(confidence)),
  };
}

function computeDifferenceInterval(b: number, c: number, n: number, tail: number): Interval {
  const half = (-computeNormalQuantile(tail) * Math.sqrt(b + c - (b - c) ** 2 / n)) / n;
  const centre = (b - c) / n;
  return { low: Math.max(-1, centre - half), high: Math.min(1, centre + half) };
}

/** Computes the probability of at most `heads` heads in `throws` throws of a fair coin. */
function computeCoinTail(heads: number, throws: number): number {
  // C(throws, heads) / 2^throws. The halves are taken in between, so that the product does not overflow.
  let probability = 1;
  let halves = throws;
  for (let i = 1; i <= heads; i++) {
    probability *= (throws - heads + i) / i;
    for (; probability > 1 && halves > 0; halves--) probability /= 2;
  }
  probability *= 2 ** -halves;
  let sum = 0;
  for (let count = heads; count >= 0; count--) {
    sum += probability;
    probability *= count / (throws - count + 1);
  }
  return sum;
}
