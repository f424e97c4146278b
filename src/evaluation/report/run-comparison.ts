import type { Scorer } from "../../schema/scorer.ts";
import type { ChangedCase } from "./changed-cases.ts";
import type { ScoreComparison } from "./score-comparison.ts";

/** How run `b` differs from run `a`, as JSON. */
export type RunComparison = {
  /** The names of the suites. */
  readonly a: string;
  /** The name of the second suite. */
  readonly b: string;
  /** The cases by id: with cells of both runs, and of one only. */
  readonly cases: {
    /** The cases with cells of both runs. */
    readonly both: number;
    /** Those of the first only. */
    readonly onlyA: number;
    /** Those of the second only. */
    readonly onlyB: number;
  };
  /** The names of the configurations that are compared. */
  readonly configurations: readonly {
    /** The name in the first run. */
    readonly a: string;
    /** The name in the second run. */
    readonly b: string;
  }[];
  /** Configurations that only the first run has. */
  readonly configurationsOnlyA: readonly string[];
  /** Configurations that only the second run has. */
  readonly configurationsOnlyB: readonly string[];
  /** The scores that are compared. `changed`: both runs have it, from scorers with different settings. */
  readonly scores: readonly {
    /** The name of the score. */
    readonly name: string;
    readonly type: Scorer["type"];
    /** Whether the two scorers have different settings. */
    readonly changed: boolean;
  }[];
  /** Scores that the other run does not have, or has from a scorer of another type. */
  readonly scoresOnlyA: readonly string[];
  /** The same for the second run. */
  readonly scoresOnlyB: readonly string[];
  /** The tests of the scores. */
  readonly comparisons: readonly ScoreComparison[];
  /** The largest changes of single cases, costs, turns and times excluded: these change everywhere. */
  readonly changed: readonly ChangedCase[];
  /** The number of all such changes. */
  readonly changedCount: number;
};
