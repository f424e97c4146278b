import { assertCount, assertValues } from "./arguments.ts";
import { computeTail, DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { averageValues, computeMean, computeSum, isConstant } from "./mean.ts";
import { readQuantile, sortNumbers } from "./median.ts";
import { computeNormalProbability, computeNormalQuantile } from "./normal-distribution.ts";
import type { Draws } from "./resamples.ts";

/** One number that describes values, such as their mean. */
export type Statistic = (values: readonly number[]) => number;

export type BcaOptions = {
  /** The resamples as lists of indices of the values, or a generator to draw them from and their number. */
  readonly resamples: readonly (readonly number[])[] | Draws;
  /** The mean by default. */
  readonly statistic?: Statistic;
  readonly confidence?: number;
};

/**
 * Computes the bias-corrected and accelerated bootstrap interval of a statistic of independent values.
 *
 * Values that are all the same give an interval without width, which is too narrow. For rates of 0 and 1 use
 * `computeWilsonInterval` instead.
 *
 * Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, section 14.3, as in
 * `scipy.stats.bootstrap`.
 */
export function computeBcaInterval(values: readonly number[], options: BcaOptions): Interval {
  const { resamples, statistic = averageValues, confidence = DEFAULT_CONFIDENCE } = options;
  assertValues("The values of a bootstrap interval", values, 2);
  const tail = computeTail(confidence);
  if (isConstant(values)) {
    const estimate = (options.statistic ?? computeMean)(values);
    return { low: estimate, high: estimate };
  }
  const estimate = statistic(values);
  const estimates = sortNumbers(listEstimates(values, resamples, statistic));
  const bias = computeBias(estimates, estimate);
  const acceleration = computeAcceleration(values, statistic);
  const readAt = (z: number): number => {
    const shifted = bias + z;
    return readQuantile(estimates, computeNormalProbability(bias + shifted / (1 - acceleration * shifted)));
  };
  const z = -computeNormalQuantile(tail);
  return { low: readAt(-z), high: readAt(z) };
}

function listEstimates(
  values: readonly number[],
  resamples: BcaOptions["resamples"],
  statistic: Statistic,
): readonly number[] {
  if ("random" in resamples) {
    const { random, count } = resamples;
    assertCount("The number of resamples", count, 1);
    return Array.from({ length: count }, () =>
      statistic(values.map(() => values[random.nextInt(values.length)]!)),
    );
  }
  assertCount("The number of resamples", resamples.length, 1);
  return resamples.map((indices) => statistic(indices.map((index) => readValue(values, index))));
}

function readValue(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new RangeError(`A resample names value ${index} of ${values.length}.`);
  return value;
}

/**
 * Computes how far the estimate lies from the middle of the estimates of the resamples, in standard deviations.
 *
 * An estimate outside all of them counts as half a resample inside: otherwise the distance would be infinite.
 */
function computeBias(estimates: readonly number[], estimate: number): number {
  let below = 0;
  for (const other of estimates) below += other < estimate ? 1 : other === estimate ? 0.5 : 0;
  const count = estimates.length;
  return computeNormalQuantile(Math.min(Math.max(below, 0.5), count - 0.5) / count);
}

/** Computes the skewness of the statistic from the values without each one of them: the jackknife. */
function computeAcceleration(values: readonly number[], statistic: Statistic): number {
  const estimates = values.map((_, omitted) => statistic(values.filter((_, index) => index !== omitted)));
  const mean = computeMean(estimates);
  const squares = computeSum(estimates.map((estimate) => (mean - estimate) ** 2));
  const cubes = computeSum(estimates.map((estimate) => (mean - estimate) ** 3));
  return squares === 0 ? 0 : cubes / (6 * squares ** 1.5);
}
