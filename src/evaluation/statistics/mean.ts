import { assertValues } from "./arguments.ts";

/**
 * Adds numbers, and the rounding error of each addition separately. The order of the numbers does not matter unless their
 * sizes differ by more than 16 orders of magnitude.
 *
 * Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974.
 */
export function computeSum(values: readonly number[]): number {
  let sum = 0;
  let error = 0;
  for (const value of values) {
    const next = sum + value;
    error += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + error;
}

/**
 * Computes the arithmetic mean. Values that are all the same have themselves as their mean, without a rounding error. A mean
 * of 0 has no sign.
 */
export function computeMean(values: readonly number[]): number {
  assertValues("The values of a mean", values, 1);
  return isConstant(values) ? values[0]! + 0 : averageValues(values);
}

/** Computes the mean of values that have been checked, with an error in the last digit. */
export function averageValues(values: readonly number[]): number {
  return computeSum(values) / values.length;
}

/** Reports whether all values are the same, so that they say nothing about the spread. */
export function isConstant(values: readonly number[]): boolean {
  return values.every((value) => value === values[0]);
}
