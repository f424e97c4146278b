import type { CallToolCommand, RecordCommand } from "./activity-command.ts";
import type { LastLoop } from "./loop-state.ts";
import type { RunTotals } from "./run-totals.ts";
import type { StepCommand } from "./step-forms.ts";
import type { TaskReport } from "./task.ts";

// What the driver must do.

export type CallToolsCommand = {
  readonly type: "call-tools";
  readonly calls: readonly CallToolCommand[];
  /** Writes the outbox at the same time, because none of the calls carries it. */
  readonly recordCommand?: RecordCommand;
};

/** Waits until something arrives, or until this time. */
type WaitCommand = { readonly type: "wait"; readonly untilMs: number | undefined };

/** Continues as new with the current state. */
type RotateCommand = { readonly type: "rotate" };

export type FinishCommand = {
  readonly type: "finish";
  /** Present when the run was a part of another run's work. */
  readonly report?: TaskReport;
  readonly last: LastLoop;
  readonly branch: string;
  readonly totals: RunTotals;
};

export type Command = StepCommand | CallToolsCommand | WaitCommand | RotateCommand | FinishCommand;
