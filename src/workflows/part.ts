import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
} from "@temporalio/common";
import {
  CancellationScope,
  CancelledFailure,
  scheduleActivity,
  startChild,
  workflowInfo,
} from "@temporalio/workflow";
import { truncateForPreview } from "../core/preview.ts";
import type { PartEnd, TaskReport } from "../core/task.ts";
import { writeOptions } from "./activity-options.ts";
import { GIVEN_UP, giveUpIfDeaf } from "./give-up.ts";
import type { StartRequest } from "./input.ts";
import { AGENT_WORKFLOW } from "./messages.ts";
import { RUN_FAILED, type RunResult } from "./result.ts";

/**
 * A run that is a part of another's work, from its beginning to its report. Cancelling the scope stops it, and waits for
 * its end; one that does not end is terminated.
 */
export function runPart(session: string, request: StartRequest, summary: string): Promise<PartEnd> {
  return startRun(session, request, summary).end;
}

/** A run that was started. */
export type PartRun = {
  /** It can be spoken to, or it could not begin. */
  readonly started: Promise<unknown>;
  readonly end: Promise<PartEnd>;
};

/** The same as `runPart`, for who must know when it can be spoken to. */
export function startRun(workflow: string, request: StartRequest, summary: string): PartRun {
  const started = startChild(AGENT_WORKFLOW, {
    workflowId: workflow,
    args: [request],
    staticSummary: summary,
    // A kill in the middle of a local step waits for it.
    workflowTaskTimeout: workflowInfo().taskTimeoutMs,
    // A parent that is terminated has its parts stopped, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  });
  const result = started.then((handle) => handle.result() as Promise<RunResult>);
  const givenUp = giveUpIfDeaf(workflow, result);
  // A part of another's session has no record of its own that could be asked.
  const session = request.within === undefined ? workflow : undefined;
  const end = result.then(ended, (error) => failed(workflow, session, error, givenUp()));
  return { started: started.catch(() => undefined), end };
}

function ended({ report }: RunResult): PartEnd {
  return report === undefined
    ? { type: "lost", how: "it ended without a report", cause: "ended" }
    : { type: "reported", report };
}

/** A run that failed reports all the same; of one that is gone, its record is asked. */
function failed(
  workflow: string,
  session: string | undefined,
  error: unknown,
  givenUp: Promise<void> | undefined,
): PartEnd | Promise<PartEnd> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { type: "lost", how: `there is a run of ${workflow} already`, cause: "taken" };
  }
  if (!(error instanceof ChildWorkflowFailure) && !(error instanceof CancelledFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    return ended((cause.details?.[0] ?? {}) as RunResult);
  }
  const lost: PartEnd = {
    type: "lost",
    how: givenUp === undefined ? describeCause(cause ?? error) : GIVEN_UP,
    cause: givenUp !== undefined ? "given-up" : error instanceof CancelledFailure ? "not-begun" : "ended",
  };
  if (session === undefined) return givenUp?.then(() => lost) ?? lost;
  const look = () => lookAt(session, "it is gone");
  return CancellationScope.nonCancellable(() => givenUp?.then(look) ?? look()).then(
    (report) => (report === null ? lost : { ...lost, report }),
    (problem) => {
      if (!(problem instanceof ActivityFailure)) throw problem;
      return lost;
    },
  );
}

/** What the record shows of a session; `null` where it has none. */
export function lookAt(session: string, why: string): Promise<TaskReport | null> {
  return scheduleActivity<TaskReport | null>("look-at-child", [{ session }], writeOptions(why));
}

const MAX_WORDS_BYTES = 512;

function describeCause(cause: Error): string {
  if (cause instanceof TimeoutFailure) return "its time was up";
  if (cause instanceof CancelledFailure) return "it was cancelled before it began";
  return truncateForPreview(cause.message, MAX_WORDS_BYTES);
}
