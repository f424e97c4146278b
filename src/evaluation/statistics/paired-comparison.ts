import { assertValues } from "./arguments.ts";
import { DEFAULT_CONFIDENCE, type Interval } from "./interval.ts";
import { computeMean, isConstant } from "./mean.ts";
import { computePermutationPValue, type SignChanges } from "./permutation-test.ts";
import { computeTInterval } from "./t-interval.ts";
import { computeVariance } from "./variance.ts";

export type PairedOptions = {
  readonly permutations?: SignChanges;
  /** Replaces the t interval of the mean difference, for example by a clustered interval. */
  readonly interval?: Interval;
  readonly confidence?: number;
};

/** How much two agents differ on the same tasks. */
export type PairedComparison = {
  /** The mean difference. */
  readonly difference: number;
  /** The probability of a mean difference at least as far from 0 if the agents were equally good. */
  readonly pValue: number;
  /** Cohen's d_z: the mean difference in standard deviations of the differences. Undefined if these are all the same. */
  readonly effectSize: number | undefined;
  readonly interval: Interval;
};

/**
 * Compares two agents by the differences of their scores on the same tasks, with a paired permutation test.
 *
 * Source of the effect size: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, section 2.3.5.
 *
 * @param differences - For each task the score of the first agent minus that of the second.
 */
export function comparePaired(differences: readonly number[], options: PairedOptions = {}): PairedComparison {
  assertValues("The differences of a paired comparison", differences, 2);
  const { permutations, confidence = DEFAULT_CONFIDENCE } = options;
  const difference = computeMean(differences);
  return {
    difference,
    pValue: computePermutationPValue(differences, permutations),
    effectSize: isConstant(differences) ? undefined : difference / Math.sqrt(computeVariance(differences)),
    interval: options.interval ?? computeTInterval(differences, confidence),
  };
}
