import { adjustHolm } from "../statistics/index.ts";
import { decideVerdict, type ScoreComparison } from "./score-comparison.ts";
import { isVolatileScore } from "./volatile-fields.ts";

/**
 * Adjusts the p-values of the comparisons of a report by Holm's method, and their verdicts with them.
 *
 * Comparisons of times are adjusted by themselves: they differ from run to run, and the other verdicts must not.
 */
export function adjustComparisons(comparisons: readonly ScoreComparison[]): readonly ScoreComparison[] {
  const adjusted = new Map<ScoreComparison, number>();
  for (const volatile of [false, true]) {
    const family = comparisons.filter((comparison) => isVolatileScore(comparison) === volatile);
    const tested = family.filter(({ pValue }) => pValue !== null);
    const pValues = adjustHolm(tested.map(({ pValue }) => pValue ?? 1));
    for (const [index, comparison] of tested.entries()) adjusted.set(comparison, pValues[index]!);
  }
  return comparisons.map((comparison) =>
    decideVerdict({ ...comparison, adjustedPValue: adjusted.get(comparison) ?? null }),
  );
}
