import { assertValues } from "./arguments.ts";

/**
 * Adds numbers, and the rounding error of each addition separately, so that the order of the numbers does not matter.
 *
 * Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974.
 */
export function computeSum(values: Iterable<number>): number {
  let sum = 0;
  let error = 0;
  for (const value of values) {
    const next = sum + value;
    error += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + error;
}

/** Computes the arithmetic mean. It does not depend on the order of the values. */
export function computeMean(values: readonly number[]): number {
  assertValues("The values of a mean", values, 1);
  return computeSum(values) / values.length;
}
