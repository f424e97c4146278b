import { assertValues } from "./arguments.ts";
import { computeTail, DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { computeMean } from "./mean.ts";
import { computeStudentQuantile } from "./student-distribution.ts";
import { computeStandardError } from "./variance.ts";

/**
 * Computes the interval of the mean of independent values.
 *
 * Source: Student, "The Probable Error of a Mean", Biometrika 6, 1908: mean ± t * standard error, with n - 1 degrees of
 * freedom.
 */
export function computeTInterval(values: readonly number[], confidence = DEFAULT_CONFIDENCE): Interval {
  assertValues("The values of a t interval", values, 2);
  return spreadInterval(computeMean(values), computeStandardError(values), values.length - 1, confidence);
}

/** Computes the interval around an estimate that follows Student's t distribution. */
export function spreadInterval(
  centre: number,
  standardError: number,
  degreesOfFreedom: number,
  confidence: number,
): Interval {
  const half = -computeStudentQuantile(computeTail(confidence), degreesOfFreedom) * standardError;
  return { low: centre - half, high: centre + half };
}
