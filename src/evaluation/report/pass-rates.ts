import { computeMean, computePassAtK, computePassHatK } from "../statistics/index.ts";
import { groupByCase } from "./case-means.ts";
import type { ScoreSeries } from "./score-table.ts";

/** A pass rate of `k` attempts, as a mean over cases. */
export type PassRate = {
  /** The number of attempts. */
  readonly k: number;
  /** The mean over cases. */
  readonly value: number;
  /** The cases that have at least `k` verdicts. Others are no part of the mean. */
  readonly cases: number;
};

export type PassRates = {
  /** The probability that at least one of `k` attempts passes. */
  readonly passAtK: readonly PassRate[];
  /** The probability that all of `k` attempts pass. */
  readonly passHatK: readonly PassRate[];
};

/** Computes the pass rates of 1, 2, 4, ... attempts and of as many as there are repetitions. */
export function computePassRates(series: ScoreSeries, repetitions: number): PassRates {
  const attempts = [...groupByCase(series)].map(({ values }) => ({
    n: values.length,
    passed: values.filter((value) => value === 1).length,
  }));
  const compute = (estimate: typeof computePassAtK): readonly PassRate[] =>
    listAttemptCounts(repetitions).flatMap((k) => {
      const estimates = attempts.filter(({ n }) => n >= k).map(({ n, passed }) => estimate(n, passed, k));
      return estimates.length === 0 ? [] : [{ k, value: computeMean(estimates), cases: estimates.length }];
    });
  return { passAtK: compute(computePassAtK), passHatK: compute(computePassHatK) };
}

function listAttemptCounts(repetitions: number): readonly number[] {
  const counts: number[] = [];
  for (let k = 1; k < repetitions; k *= 2) counts.push(k);
  return [...counts, repetitions];
}
