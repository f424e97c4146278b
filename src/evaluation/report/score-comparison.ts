import { LOWER_IS_BETTER, type Scorer } from "../../schema/scorer.ts";
import { computeVariance, type Interval, testMcnemar } from "../statistics/index.ts";
import { areVerdicts, type CaseMeans } from "./case-means.ts";
import { CONFIDENCE } from "./score-interval.ts";
import { type TestMethod, testDifferences } from "./test-differences.ts";

/** How the scores of `b` differ from those of `a` on the same cases. */
export type ScoreComparison = {
  /** The name of the score. */
  readonly score: string;
  readonly type: Scorer["type"];
  /** The names of the configurations. */
  readonly a: string;
  /** The name of the other configuration. */
  readonly b: string;
  /** The cases that have a score of both. */
  readonly pairs: number;
  /** The cases that have a score of one only. They are no part of the comparison. */
  readonly unpairedA: number;
  /** The same for the other configuration. */
  readonly unpairedB: number;
  /** The mean difference over pairs, `b` minus `a`; `null` without pairs. */
  readonly difference: number | null;
  /** The interval of the difference; `null` for fewer than two pairs. */
  readonly interval:
    | (Interval & {
        /** The confidence of the interval, from 0 to 1. */
        readonly confidence: number;
      })
    | null;
  /** `null` for fewer than two pairs. */
  readonly test: TestMethod | null;
  /** The p-value of the test, before any adjustment. */
  readonly pValue: number | null;
  /** The p-value after Holm's adjustment for all comparisons of the report. */
  readonly adjustedPValue: number | null;
  /** For verdicts without repetitions: on how many cases only one of the two has passed. */
  readonly mcnemar?: {
    /** Those of the first only. */
    readonly onlyA: number;
    /** Those of the second only. */
    readonly onlyB: number;
    /** The p-value of the test, before any adjustment. */
    readonly pValue: number;
  };
  /** Cohen's d_z: the mean difference as a number of standard deviations of the differences; `null` if these are all the same. */
  readonly effectSize: number | null;
  /** What is shown of `b`, at an adjusted p-value below 0.05. A lower cost, number of turns or time is better. */
  readonly verdict: "better" | "worse" | "no difference shown";
};

/** The scores of a configuration that are compared with those of another. */
export type PairedScores = CaseMeans & { readonly name: string };

export type ComparisonOptions = {
  readonly score: string;
  readonly type: Scorer["type"];
  /** Whether random signs may be drawn: see `admitsPermutations`. True by default. */
  readonly permutations?: boolean;
};

/** A difference is shown below this adjusted p-value. */
const ALPHA = 0.05;

/** How many cases have a score of each, and of one only. */
export type PairCounts = Pick<ScoreComparison, "pairs" | "unpairedA" | "unpairedB">;

export function countPairs(a: CaseMeans, b: CaseMeans): PairCounts {
  let pairs = 0;
  for (const caseNumber of a.means.keys()) if (b.means.has(caseNumber)) pairs++;
  return { pairs, unpairedA: a.means.size - pairs, unpairedB: b.means.size - pairs };
}

/**
 * Compares two configurations by one score, on the cases that have a score of both.
 *
 * A case counts once, with its mean over repetitions. Verdicts without repetitions are compared with McNemar's exact test.
 * With repetitions the means are compared like any other score: a majority of each case's verdicts would forget how clear it
 * was.
 *
 * The p-value is not adjusted: see `adjustComparisons`.
 */
export function compareScores(a: PairedScores, b: PairedScores, options: ComparisonOptions): ScoreComparison {
  const counts = countPairs(a, b);
  const { before, after } = pairMeans(a, b);
  const differences = after.map((value, index) => value - before[index]!);
  const facts = { score: options.score, type: options.type, a: a.name, b: b.name, ...counts };
  if (differences.length < 2) {
    return {
      ...facts,
      difference: differences[0] ?? null,
      interval: null,
      test: null,
      pValue: null,
      adjustedPValue: null,
      effectSize: null,
      verdict: "no difference shown",
    };
  }
  const result = areSingleVerdicts([a, b], [before, after], options)
    ? compareVerdicts(differences)
    : testDifferences(differences, options.permutations ?? true);
  return decideVerdict({
    ...facts,
    ...result,
    interval: { ...result.interval, confidence: CONFIDENCE },
    adjustedPValue: result.pValue,
    effectSize: computeEffectSize(differences, result.difference),
  });
}

/** Returns the comparison with the verdict that its adjusted p-value admits. */
export function decideVerdict(comparison: Omit<ScoreComparison, "verdict">): ScoreComparison {
  const { adjustedPValue, type } = comparison;
  const difference = comparison.difference ?? 0;
  if (adjustedPValue === null || !(adjustedPValue < ALPHA) || difference === 0) {
    return { ...comparison, verdict: "no difference shown" };
  }
  return { ...comparison, verdict: difference > 0 !== LOWER_IS_BETTER.has(type) ? "better" : "worse" };
}

function pairMeans(a: CaseMeans, b: CaseMeans): { before: readonly number[]; after: readonly number[] } {
  const before: number[] = [];
  const after: number[] = [];
  for (const [caseNumber, value] of a.means) {
    const other = b.means.get(caseNumber);
    if (other === undefined) continue;
    before.push(value);
    after.push(other);
  }
  return { before, after };
}

function areSingleVerdicts(
  sides: readonly CaseMeans[],
  values: readonly (readonly number[])[],
  { type }: ComparisonOptions,
): boolean {
  return !LOWER_IS_BETTER.has(type) && sides.every(({ isSingle }) => isSingle) && values.every(areVerdicts);
}

function compareVerdicts(differences: readonly number[]) {
  const onlyA = differences.filter((difference) => difference < 0).length;
  const onlyB = differences.filter((difference) => difference > 0).length;
  const result = testMcnemar(onlyB, onlyA, differences.length, CONFIDENCE);
  return {
    ...result,
    test: "mcnemar" as const,
    mcnemar: { onlyA, onlyB, pValue: result.pValue },
  };
}

function computeEffectSize(differences: readonly number[], difference: number): number | null {
  const isConstant = differences.every((value) => value === differences[0]);
  return isConstant ? null : difference / Math.sqrt(computeVariance(differences));
}
