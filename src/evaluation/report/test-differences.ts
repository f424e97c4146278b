import {
  comparePaired,
  computeMean,
  computeTInterval,
  computeVariance,
  type Interval,
} from "../statistics/index.ts";
import { computeStudentTails } from "../statistics/student-distribution.ts";
import { CONFIDENCE } from "./score-interval.ts";

/** `mcnemar`: verdicts without repetitions. `permutation`: of signs. `t`: for many pairs. */
export type TestMethod = "mcnemar" | "permutation" | "t";

export type DifferenceTest = {
  readonly difference: number;
  readonly pValue: number;
  readonly interval: Interval;
  readonly test: TestMethod;
};

/** Above this number of pairs, the mean of random signs is so near to a normal distribution that both tests agree. */
const MAX_PERMUTED_PAIRS = 500;

/** Up to this number of pairs, the permutation test tries all signs. */
const MAX_EXACT_PAIRS = 16;

/** The number of random signs for each of more pairs: the default of `comparePaired`. */
const SIGN_CHANGES = 9999;

/**
 * The most signs that the comparisons of a report try: they take about 0.3 seconds. A report with more uses t tests, so that
 * its time does not depend on its size.
 */
const MAX_SIGNS = 8_000_000;

/** Reports whether comparisons with these numbers of pairs are few enough for permutation tests. */
export function admitsPermutations(pairs: readonly number[]): boolean {
  return pairs.reduce((sum, count) => sum + countSigns(count), 0) <= MAX_SIGNS;
}

function countSigns(pairs: number): number {
  if (pairs > MAX_PERMUTED_PAIRS) return 0;
  return pairs <= MAX_EXACT_PAIRS ? 2 ** pairs : pairs * SIGN_CHANGES;
}

/** Tests whether the mean of at least two differences is 0. */
export function testDifferences(differences: readonly number[], permutations: boolean): DifferenceTest {
  if (permutations && differences.length <= MAX_PERMUTED_PAIRS) {
    const { difference, pValue, interval } = comparePaired(differences, { confidence: CONFIDENCE });
    return { difference, pValue, interval, test: "permutation" };
  }
  const difference = computeMean(differences);
  const interval = computeTInterval(differences, CONFIDENCE);
  return { difference, pValue: computeTPValue(differences, difference), interval, test: "t" };
}

function computeTPValue(differences: readonly number[], difference: number): number {
  const count = differences.length;
  if (difference === 0) return 1;
  // Without a spread there is no t. Two of all sign changes give a mean that is as far from 0.
  if (differences.every((value) => value === differences[0])) return 2 ** (1 - count);
  return computeStudentTails(difference / Math.sqrt(computeVariance(differences) / count), count - 1);
}
