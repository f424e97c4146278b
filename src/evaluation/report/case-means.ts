import { computeMean } from "../statistics/index.ts";
import type { ScoreSeries } from "./score-table.ts";

/** The scores of one configuration by one scorer, for each case. */
export type CaseMeans = {
  /** By case: its mean over repetitions. */
  readonly means: ReadonlyMap<number, number>;
  /** Whether each case has one value only, so that its mean is that value. */
  readonly isSingle: boolean;
};

export function computeCaseMeans(series: ScoreSeries): CaseMeans {
  const means = new Map<number, number>();
  let isSingle = true;
  for (const { caseNumber, values } of groupByCase(series)) {
    if (values.length === 1) {
      means.set(caseNumber, values[0]!);
    } else {
      means.set(caseNumber, computeMean(values));
      isSingle = false;
    }
  }
  return { means, isSingle };
}

/** Returns the values of each case, in order of case. */
export function* groupByCase({
  values,
  cases,
}: ScoreSeries): Generator<{ readonly caseNumber: number; readonly values: readonly number[] }> {
  for (let start = 0, end = 0; start < values.length; start = end) {
    while (end < values.length && cases[end] === cases[start]) end++;
    yield { caseNumber: cases[start]!, values: values.slice(start, end) };
  }
}

/** Reports whether all values are 0 or 1. */
export function areVerdicts(values: readonly number[]): boolean {
  return values.every((value) => value === 0 || value === 1);
}
