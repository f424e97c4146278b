import { adjustComparisons } from "./adjust-comparisons.ts";
import {
  type ComparisonOptions,
  compareScores,
  countPairs,
  type PairedScores,
  type ScoreComparison,
} from "./score-comparison.ts";
import { admitsPermutations } from "./test-differences.ts";

/** Two configurations and a score by which they are compared. */
export type ComparedPair = Pick<ComparisonOptions, "score" | "type"> & {
  readonly a: PairedScores;
  readonly b: PairedScores;
};

/** Makes all comparisons of a report, with adjusted p-values. */
export function comparePairs(compared: readonly ComparedPair[]): readonly ScoreComparison[] {
  const permutations = admitsPermutations(compared.map(({ a, b }) => countPairs(a, b).pairs));
  return adjustComparisons(
    compared.map(({ a, b, score, type }) => compareScores(a, b, { score, type, permutations })),
  );
}
