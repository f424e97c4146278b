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
import type { TaskReport } from "../core/machine/state/task.ts";
import type { PartEnd } from "../core/machine/task.ts";
import { truncateForPreview } from "../platform/text/preview.ts";
import { buildWriteOptions } from "./activity-options.ts";
import { AGENT_WORKFLOW } from "./messages.ts";
import type { StartRequest } from "./run-input.ts";
import { RUN_FAILED, type RunResult } from "./run-result.ts";
import { TERMINATED_TEXT, terminateIfUnresponsive } from "./terminate-part.ts";

/**
 * Runs a part of another run's work, from its start to its report. Cancelling the scope stops the part and waits for
 * its end; a part that does not end is terminated.
 */
export function runPart(session: string, request: StartRequest, summary: string): Promise<PartEnd> {
  return startRun(session, request, summary).end;
}

/** Runs a part that is begun once: if a run of its session has ended already, the part is lost as `taken`. */
export function runPartOnce(session: string, request: StartRequest, summary: string): Promise<PartEnd> {
  return startRun(session, request, summary, "REJECT_DUPLICATE").end;
}

/** A run that was started. */
export type PartRun = {
  /** Resolves when the run accepts messages, or when it could not begin. */
  readonly started: Promise<unknown>;
  readonly end: Promise<PartEnd>;
};

/** Starts a part as `runPart` does, and also reports when the part accepts messages. */
export function startRun(
  workflow: string,
  request: StartRequest,
  summary: string,
  workflowIdReusePolicy: "ALLOW_DUPLICATE" | "REJECT_DUPLICATE" = "ALLOW_DUPLICATE",
): PartRun {
  const started = startChild(AGENT_WORKFLOW, {
    workflowId: workflow,
    workflowIdReusePolicy,
    args: [request],
    staticSummary: summary,
    // When a worker is killed during a local step, the run waits for this timeout.
    workflowTaskTimeout: workflowInfo().taskTimeoutMs,
    // A terminated parent stops its parts, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  });
  const result = started.then((handle) => handle.result() as Promise<RunResult>);
  const givenUp = terminateIfUnresponsive(workflow, result);
  // A part of another run's session has no record of its own to read.
  const session = request.within === undefined ? workflow : undefined;
  const end = result.then(toPartEnd, (error) => readFailedPart(workflow, session, error, givenUp()));
  return { started: started.catch(() => undefined), end };
}

function toPartEnd({ report }: RunResult): PartEnd {
  return report === undefined
    ? { type: "lost", reason: "it ended without a report", cause: "ended" }
    : { type: "reported", report };
}

/** Returns the end of a run that failed: its report, or what its record contains when the run is gone. */
function readFailedPart(
  workflow: string,
  session: string | undefined,
  error: unknown,
  givenUp: Promise<void> | undefined,
): PartEnd | Promise<PartEnd> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { type: "lost", reason: `a run of ${workflow} already exists`, cause: "taken" };
  }
  if (!(error instanceof ChildWorkflowFailure) && !(error instanceof CancelledFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    return toPartEnd((cause.details?.[0] ?? {}) as RunResult);
  }
  const lost: PartEnd = {
    type: "lost",
    reason: givenUp === undefined ? describeCause(cause ?? error) : TERMINATED_TEXT,
    cause: givenUp !== undefined ? "given-up" : error instanceof CancelledFailure ? "not-begun" : "ended",
  };
  if (session === undefined) return givenUp?.then(() => lost) ?? lost;
  const look = () => inspectChild(session, "it ended without a report");
  return CancellationScope.nonCancellable(() => givenUp?.then(look) ?? look()).then(
    (report) => (report === null ? lost : { ...lost, report }),
    (problem) => {
      if (!(problem instanceof ActivityFailure)) throw problem;
      return lost;
    },
  );
}

/** Reads the state of a session from its record; `null` when the record has none. */
export function inspectChild(session: string, reason: string): Promise<TaskReport | null> {
  return scheduleActivity<TaskReport | null>("inspect-child", [{ session }], buildWriteOptions(reason));
}

const MAX_REASON_BYTES = 512;

function describeCause(cause: Error): string {
  if (cause instanceof TimeoutFailure) return "it timed out";
  if (cause instanceof CancelledFailure) return "it was cancelled before it began";
  return truncateForPreview(cause.message, MAX_REASON_BYTES);
}
