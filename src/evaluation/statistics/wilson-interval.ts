import { assertCount } from "./arguments.ts";
import { computeTail, DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { computeNormalQuantile } from "./normal-distribution.ts";

/**
 * Computes the interval of a rate of independent successes, also for few attempts and for rates of 0 and 1.
 *
 * Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal of the American
 * Statistical Association 22, 1927.
 */
export function computeWilsonInterval(
  successes: number,
  n: number,
  confidence = DEFAULT_CONFIDENCE,
): Interval {
  assertCount("The number of attempts", n, 1);
  assertCount("The number of successes", successes, 0, n);
  const z = -computeNormalQuantile(computeTail(confidence));
  const rate = successes / n;
  const scale = 1 + (z * z) / n;
  const centre = (rate + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((rate * (1 - rate) + (z * z) / (4 * n)) / n);
  // Exact at the ends, where the subtraction leaves a rounding error.
  return { low: successes === 0 ? 0 : centre - half, high: successes === n ? 1 : centre + half };
}
