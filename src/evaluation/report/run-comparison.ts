import type { Scorer } from "../../schema/scorer.ts";
import type { ChangedCase } from "./changed-cases.ts";
import type { ScoreComparison } from "./score-comparison.ts";

/** How run `b` differs from run `a`, as JSON. */
export type RunComparison = {
  /** The names of the suites. */
  readonly a: string;
  readonly b: string;
  /** The cases by id: with cells of both runs, and of one only. */
  readonly cases: { readonly both: number; readonly onlyA: number; readonly onlyB: number };
  /** The names of the configurations that are compared. */
  readonly configurations: readonly { readonly a: string; readonly b: string }[];
  readonly configurationsOnlyA: readonly string[];
  readonly configurationsOnlyB: readonly string[];
  /** The scores that are compared. `changed`: both runs have it, from scorers with different settings. */
  readonly scores: readonly {
    readonly name: string;
    readonly type: Scorer["type"];
    readonly changed: boolean;
  }[];
  /** Scores that the other run does not have, or has from a scorer of another type. */
  readonly scoresOnlyA: readonly string[];
  readonly scoresOnlyB: readonly string[];
  readonly comparisons: readonly ScoreComparison[];
  /** The largest changes of single cases, costs, turns and times excluded: these change everywhere. */
  readonly changed: readonly ChangedCase[];
  /** The number of all such changes. */
  readonly changedCount: number;
};
