import type { SuiteTotals } from "../core/suite/suite-parts.ts";
import type { CellKind, SuiteControl, SuiteStopCode } from "../schema/suite.ts";
import type { RunSettings } from "./run-input.ts";

/** What a suite is started with. Its plan, cases and cells are in the store under the workflow's id. */
export type SuiteRequest = {
  readonly control: SuiteControl;
  readonly settings?: Partial<RunSettings>;
  /** How far an earlier run of the same suite has come. */
  readonly carried?: CarriedSuite;
};

export type CarriedSuite = {
  /** The number of the last cell that a part has taken. */
  readonly after: number;
  /** The cells that parts have moved on since the suite last began at its first cell. */
  readonly progress: number;
};

/** How a run of a suite has ended. */
export type SuiteResult = SuiteTotals & {
  /** The id of the run. */
  readonly run: string;
  readonly status: "ended" | "stopped";
  /** Why it was stopped, for people … */
  readonly reason?: string;
  /** … and for code. */
  readonly stopCode?: SuiteStopCode;
};

/** What a shard is started with: cells of one kind that follow each other. */
export type ShardRequest = {
  readonly run: string;
  readonly kind: CellKind;
  readonly after: number;
  readonly to: number;
  /** Which of the parts that work side by side this is. */
  readonly lane: number;
  readonly concurrency: number;
  readonly nanoUsd: number | null;
  readonly state: SuiteControl["state"];
  readonly settings: RunSettings;
};
