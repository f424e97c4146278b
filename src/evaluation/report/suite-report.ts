import type { Cost } from "../../core/budget/usage.ts";
import type { Usage } from "../../schema/message.ts";
import type { SuiteConfiguration, SuiteStatus } from "../../schema/suite.ts";
import type { ScoreComparison } from "./score-comparison.ts";
import type { ScoreSummary } from "./score-summary.ts";

/** What the cells of a report have come to. */
export type CellTotals = {
  readonly cells: number;
  readonly finished: number;
  readonly failed: number;
  readonly pending: number;
  /** Results and the scorers' own model calls, those of failed cells included; `null` if the cost of any is unknown. */
  readonly costUsd: Cost;
  readonly tokens: Usage;
  /** Model answers that were paid, and those that were taken from the store. */
  readonly paidAnswers: number;
  readonly storedAnswers: number;
};

export type ConfigurationReport = CellTotals & {
  readonly name: string;
  readonly agent: string;
  readonly model: string;
  readonly parameters?: NonNullable<SuiteConfiguration["parameters"]>;
  /** Finished cells by outcome, such as `answered`, and failed cells by class. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Of finished cells; `null` without one. */
  readonly meanTurns: number | null;
  readonly medianDurationMs: number | null;
  /** In the order of the scorers. */
  readonly scores: readonly ScoreSummary[];
};

/** What a report states of a run beside its cells. A stored run fits. */
export type ReportFacts = {
  readonly id: string;
  readonly status: SuiteStatus;
  readonly reason?: string | undefined;
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
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly status: SuiteStatus;
  readonly reason?: string;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly cases: number;
  readonly repetitions: number;
  /** Cells that other runs had finished before. */
  readonly reused: number;
  readonly paidUsd?: number | null;
  readonly configurations: readonly ConfigurationReport[];
  /** The pairs of configurations, or each with the first one if there are many: see `pairConfigurations`. */
  readonly comparisons: readonly ScoreComparison[];
};
