import type { Cost } from "../../core/budget/usage.ts";
import type { Usage } from "../../schema/message.ts";
import type { SuiteConfiguration, SuiteStatus, SuiteStopCode } from "../../schema/suite.ts";
import type { ScoreComparison } from "./score-comparison.ts";
import type { ScoreSummary } from "./score-summary.ts";

/** What the cells of a report have come to. */
export type CellTotals = {
  /** The number of cells. */
  readonly cells: number;
  /** Cells with an answer and all scores. */
  readonly finished: number;
  /** Cells that have failed. */
  readonly failed: number;
  /** Cells that are still to be asked or scored. */
  readonly pending: number;
  /** Results and the scorers' own model calls, those of failed cells included; `null` if the cost of any is unknown. */
  readonly costUsd: Cost;
  /** The tokens of all results. */
  readonly tokens: Usage;
  /** Model answers that were paid, and those that were taken from the store. */
  readonly paidAnswers: number;
  /** Model answers that were taken from the store. */
  readonly storedAnswers: number;
};

/** What the cells of one configuration have come to. */
export type ConfigurationReport = CellTotals & {
  /** The name of the configuration. */
  readonly name: string;
  /** The name of the agent. */
  readonly agent: string;
  /** The model, as `provider/id`. */
  readonly model: string;
  /** The values of the matrix that it stands for. */
  readonly parameters?: NonNullable<SuiteConfiguration["parameters"]>;
  /** Finished cells by outcome, such as `answered`, and failed cells by class. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The failed cells by class. */
  readonly failures: Readonly<Record<string, number>>;
  /** Of finished cells; `null` without one. */
  readonly meanTurns: number | null;
  /** The median time of finished cells; `null` without one. */
  readonly medianDurationMs: number | null;
  /** In the order of the scorers. */
  readonly scores: readonly ScoreSummary[];
};

/** What a report states of a run beside its cells. A stored run fits. */
export type ReportFacts = {
  readonly id: string;
  readonly status: SuiteStatus;
  readonly reason?: string | undefined;
  readonly stopCode?: SuiteStopCode | undefined;
  readonly cases: number;
  readonly reused: number;
  readonly createdAtMs: number;
  readonly startedAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
  /** What was paid since the run started; `null` if unknown. */
  readonly paidUsd?: number | null | undefined;
};

/** The report of a run, as JSON. See `VOLATILE_FIELDS` for what differs between runs with the same answers. */
export type SuiteReport = CellTotals & {
  /** The id of the run. */
  readonly id: string;
  /** The name of the suite. */
  readonly name: string;
  /** Tags, to find runs by. */
  readonly tags: readonly string[];
  /** How far the run has come. */
  readonly status: SuiteStatus;
  /** Why it was stopped, or has failed. */
  readonly reason?: string;
  /** Why it was stopped, for code. */
  readonly stopCode?: SuiteStopCode;
  /** When its planning began, in Unix milliseconds. */
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** The number of cases. */
  readonly cases: number;
  /** How often each case is repeated. */
  readonly repetitions: number;
  /** Cells that other runs had finished before. */
  readonly reused: number;
  /** What was paid since the run started; `null` if a price is unknown. */
  readonly paidUsd?: number | null;
  /** The configurations, in the order of the suite. */
  readonly configurations: readonly ConfigurationReport[];
  /** The pairs of configurations, or each with the first one if there are many: see `pairConfigurations`. */
  readonly comparisons: readonly ScoreComparison[];
};
