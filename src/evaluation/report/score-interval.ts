import {
  computeBcaInterval,
  computeClusteredInterval,
  computeTInterval,
  computeWilsonInterval,
  createRandom,
  type Interval,
} from "../statistics/index.ts";
import type { ScoreSeries } from "./score-table.ts";

/** The share of repeated experiments whose interval contains the true value. */
export const CONFIDENCE = 0.95;

/** The same values always get the same interval. */
const SEED = 1;

const RESAMPLES = 2000;

/** The bootstrap needs some values to draw from; below this number, the t interval is the wider and safer one. */
const MIN_BOOTSTRAPPED = 10;

/** From here on, the mean of a score is so near to a normal distribution that both intervals agree. */
const MAX_BOOTSTRAPPED = 500;

/**
 * The most values that a report resamples: they take about half a second. A report with more uses t intervals, so that its time
 * does not depend on its size.
 */
const MAX_RESAMPLED_VALUES = 2000;

/** Below this, a standard error is a rounding error. */
const SMALLEST_ERROR = 1e-12;

/** The interval of a mean, and how it was computed. */
export type ScoreInterval = Interval & {
  /**
   * `wilson`: verdicts are independent. `clustered`: repetitions of a case are not. `bca`: the bootstrap. `t`: for few values
   * and for many.
   */
  readonly method: "wilson" | "clustered" | "bca" | "t";
  /** The confidence of the interval, from 0 to 1. */
  readonly confidence: number;
};

export type IntervalOptions = {
  /** Whether all values of the score are 0 or 1, in every configuration. */
  readonly isVerdict: boolean;
  /** Whether the bootstrap may be used: see `admitsBootstrap`. */
  readonly bootstrap: boolean;
};

/** Reports whether a report with these numbers of values is small enough for the bootstrap. */
export function admitsBootstrap(counts: readonly number[]): boolean {
  const resampled = counts.filter(isBootstrapped).reduce((sum, count) => sum + count, 0);
  return resampled <= MAX_RESAMPLED_VALUES;
}

function isBootstrapped(count: number): boolean {
  return count >= MIN_BOOTSTRAPPED && count <= MAX_BOOTSTRAPPED;
}

/** Computes the interval of the mean of a score. Returns null for values that are too few to tell. */
export function computeScoreInterval(series: ScoreSeries, options: IntervalOptions): ScoreInterval | null {
  const { values, cases } = series;
  if (values.length < (options.isVerdict ? 1 : 2)) return null;
  const clustered = hasRepetitions(cases) ? computeClustered(series, options.isVerdict) : undefined;
  if (clustered !== undefined) return clustered;
  if (options.isVerdict) {
    const passed = values.filter((value) => value === 1).length;
    return {
      ...computeWilsonInterval(passed, values.length, CONFIDENCE),
      method: "wilson",
      confidence: CONFIDENCE,
    };
  }
  if (options.bootstrap && isBootstrapped(values.length)) {
    const resamples = { random: createRandom(SEED), count: RESAMPLES };
    return {
      ...computeBcaInterval(values, { resamples, confidence: CONFIDENCE }),
      method: "bca",
      confidence: CONFIDENCE,
    };
  }
  return { ...computeTInterval(values, CONFIDENCE), method: "t", confidence: CONFIDENCE };
}

/** Reports whether a case has more than one value. Cases are in order. */
function hasRepetitions(cases: readonly number[]): boolean {
  return cases.some((number, index) => index > 0 && number === cases[index - 1]);
}

/** Returns undefined if there is one case only, or if cases do not differ: then repetitions are all there is to learn from. */
function computeClustered({ values, cases }: ScoreSeries, isVerdict: boolean): ScoreInterval | undefined {
  if (cases[0] === cases.at(-1)) return undefined;
  const { low, high, mean, standardError } = computeClusteredInterval(values, cases, CONFIDENCE);
  if (standardError <= SMALLEST_ERROR * Math.max(1, Math.abs(mean))) return undefined;
  return {
    low: isVerdict ? Math.max(0, low) : low,
    high: isVerdict ? Math.min(1, high) : high,
    method: "clustered",
    confidence: CONFIDENCE,
  };
}
