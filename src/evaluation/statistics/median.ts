import { assertValues } from "./arguments.ts";

/** Computes the middle value, or the mean of the two middle values. */
export function computeMedian(values: readonly number[]): number {
  assertValues("The values of a median", values, 1);
  const sorted = sortNumbers(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  // Halved before they are added, so that the sum of two large numbers does not overflow.
  return sorted.length % 2 === 1 ? upper : sorted[middle - 1]! / 2 + upper / 2;
}

/**
 * Reads the quantile of sorted numbers, on the straight line between the two nearest.
 *
 * This is type 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50,
 * 1996, which NumPy, SciPy and R use by default.
 */
export function readQuantile(sorted: readonly number[], probability: number): number {
  const position = (sorted.length - 1) * probability;
  const index = Math.min(Math.floor(position), sorted.length - 1);
  const lower = sorted[index]!;
  const upper = sorted[Math.min(index + 1, sorted.length - 1)]!;
  return lower + (upper - lower) * (position - index);
}

/** Returns the numbers in ascending order. */
export function sortNumbers(values: readonly number[]): readonly number[] {
  return [...values].sort((a, b) => a - b);
}
