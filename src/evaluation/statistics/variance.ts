import { assertValues } from "./arguments.ts";
import { computeMean, computeSum } from "./mean.ts";

/** Computes the sample variance: the sum of squared distances from the mean, divided by one less than their number. */
export function computeVariance(values: readonly number[]): number {
  assertValues("The values of a variance", values, 2);
  const mean = computeMean(values);
  return computeSum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
}

/** Computes the standard error of the mean of independent values. */
export function computeStandardError(values: readonly number[]): number {
  return Math.sqrt(computeVariance(values) / values.length);
}
