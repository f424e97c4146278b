import type { Score } from "../../schema/score.ts";
import type { Scorer } from "../../schema/scorer.ts";
import { getScorerName } from "../../schema/scorer-name.ts";
import { computeMean, computeMedian } from "../statistics/index.ts";
import { computePassRates, type PassRate } from "./pass-rates.ts";
import { computeScoreInterval, type ScoreInterval } from "./score-interval.ts";
import type { ScoreSeries } from "./score-table.ts";

/** The scores of one configuration by one scorer. Failed cells are counted and never scored. */
export type ScoreSummary = {
  /** The name of the score. */
  readonly name: string;
  readonly type: Scorer["type"];
  /** The cells that have a score: all numbers below are about them. */
  readonly count: number;
  /** The cells that have none, for whatever reason. */
  readonly missing: number;
  /** `null` without a score. */
  readonly mean: number | null;
  /** The median; `null` without a score. */
  readonly median: number | null;
  /** The interval of the mean; `null` if there are too few values. */
  readonly interval: ScoreInterval | null;
  /** The cells that have passed; absent for a scorer that does not tell success from failure. */
  readonly passed?: number;
  /** For verdicts with repetitions. */
  readonly passAtK?: readonly PassRate[];
  /** The same for all of `k` attempts. */
  readonly passHatK?: readonly PassRate[];
  /** The finished cells whose verdict could not be read, whose scorer failed, and that could not be scored. */
  readonly unreadable: number;
  /** The finished cells whose scorer failed. */
  readonly failed: number;
  /** The finished cells that could not be scored. */
  readonly unscorable: number;
};

/** Counts how the scores of one scorer came about. */
export class ScoreTally {
  readonly #classes = { scored: 0, unreadable: 0, failed: 0, unscorable: 0 } satisfies Record<
    Score["class"],
    number
  >;
  #passed: number | undefined;

  add(score: Score | undefined): void {
    if (score === undefined) return;
    this.#classes[score.class]++;
    if (score.passed !== undefined) this.#passed = (this.#passed ?? 0) + (score.passed ? 1 : 0);
  }

  summarise(
    scorer: Scorer,
    series: ScoreSeries,
    options: {
      readonly cells: number;
      readonly repetitions: number;
      readonly isVerdict: boolean;
      readonly bootstrap: boolean;
    },
  ): ScoreSummary {
    const { values } = series;
    const { unreadable, failed, unscorable } = this.#classes;
    const rates =
      options.isVerdict && options.repetitions > 1 ? computePassRates(series, options.repetitions) : {};
    return {
      name: getScorerName(scorer),
      type: scorer.type,
      count: values.length,
      missing: options.cells - values.length,
      mean: values.length === 0 ? null : computeMean(values),
      median: values.length === 0 ? null : computeMedian(values),
      interval: computeScoreInterval(series, options),
      ...(this.#passed === undefined ? {} : { passed: this.#passed }),
      ...rates,
      unreadable,
      failed,
      unscorable,
    };
  }
}
