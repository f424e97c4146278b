import { ApplicationFailure } from "@temporalio/common";
import type { FinishCommand } from "../core/machine/state/command.ts";
import type { RunTotals } from "../core/machine/state/run-totals.ts";
import type { TaskReport } from "../core/machine/state/task.ts";
import type { Outcome } from "../schema/record.ts";

/**
 * The result of a run, with what all of its loops have used. The run of a part of another run's work has only its report,
 * because the history of the other run contains it.
 */
export type RunResult = Partial<RunTotals> & {
  readonly session: string;
  readonly outcome: Outcome;
  readonly loopId?: string;
  readonly branch: string;
  /** The text of the last answer, at most 32 KiB. The transcript contains the whole text at `position`. */
  readonly text?: string;
  /** The position of the last answer; absent if there is none. */
  readonly position?: number;
  /** The answer is a structured output, and `text` is its JSON: whole, or cut because it is longer. */
  readonly json?: "complete" | "truncated";
  /** What was repaired in the structured output, at most 10 lines; absent for nothing. */
  readonly repairs?: readonly string[];
  /** The report of a run that is a part of another run's work, in place of its text. */
  readonly report?: TaskReport;
};

/** The type of the failure that a failed run ends with; its first detail is the `RunResult`. */
export const RUN_FAILED = "holdfast/run-failed";

/**
 * Returns the result of a run. A failed run also fails as a workflow, so that an operator sees the failure; every
 * other outcome is a result.
 */
export function finishRun(session: string, { last, branch, totals, report }: FinishCommand): RunResult {
  const result: RunResult =
    report === undefined
      ? { session, branch, ...last, ...totals }
      : { session, branch, outcome: last.outcome, report };
  return throwIfFailed(result);
}

/** Returns the result, or throws a failure that contains the result. */
export function throwIfFailed<Result extends { readonly outcome: Outcome }>(result: Result): Result {
  const { outcome } = result;
  if (outcome.type !== "failed") return result;
  throw buildRunFailure(result, outcome);
}

export function buildRunFailure(result: object, { fault, message }: Extract<Outcome, { type: "failed" }>) {
  return ApplicationFailure.create({
    type: RUN_FAILED,
    message: `${fault}: ${message}`,
    nonRetryable: true,
    details: [result],
  });
}
