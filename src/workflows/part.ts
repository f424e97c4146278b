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
import type { PartEnd, TaskReport } from "../core/machine/task.ts";
import { truncateForPreview } from "../platform/text/preview.ts";
import { writeOptions } from "./activity-options.ts";
import { GIVEN_UP, giveUpIfDeaf } from "./give-up.ts";
import type { StartRequest } from "./input.ts";
import { RUN_FAILED, type RunResult } from "./result.ts";

/**
 * A run that is a part of another's work, from its beginning to its report. Cancelling the scope stops it, and waits for
 * its end; one that does not end is terminated.
 */
export function runPart(session: string, request: StartRequest, summary: string): Promise<PartEnd> {
  return beginPart(session, request, summary).end;
}

/** The same, for who must know when it can be spoken to. `started` resolves also when it could not begin. */
export function beginPart(
  session: string,
  request: StartRequest,
  summary: string,
): { readonly started: Promise<unknown>; readonly end: Promise<PartEnd> } {
  const started = startChild("agent", {
    workflowId: session,
    args: [request],
    staticSummary: summary,
    // A kill in the middle of a local step waits for it.
    workflowTaskTimeout: workflowInfo().taskTimeoutMs,
    // A parent that is terminated has its parts stopped, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  });
  const result = started.then((handle) => handle.result() as Promise<RunResult>);
  const givenUp = giveUpIfDeaf(session, result);
  const end = result.then(ended, (error) => failed(session, error, givenUp()));
  return { started: started.catch(() => undefined), end };
}

function ended({ report }: RunResult): PartEnd {
  return report === undefined
    ? { type: "lost", how: "it ended without a report" }
    : { type: "reported", report };
}

/** A run that failed reports all the same; of one that is gone, its record is asked. */
function failed(
  session: string,
  error: unknown,
  givenUp: Promise<void> | undefined,
): PartEnd | Promise<PartEnd> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { type: "lost", how: `there is a run of ${session} already` };
  }
  if (!(error instanceof ChildWorkflowFailure) && !(error instanceof CancelledFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    return ended((cause.details?.[0] ?? {}) as RunResult);
  }
  const how = givenUp === undefined ? wordsFor(cause ?? error) : GIVEN_UP;
  const look = () => lookAt(session, "it is gone");
  return CancellationScope.nonCancellable(() => givenUp?.then(look) ?? look()).then(
    (report) => ({ type: "lost", how, ...(report === null ? {} : { report }) }),
    (problem) => {
      if (!(problem instanceof ActivityFailure)) throw problem;
      return { type: "lost", how };
    },
  );
}

/** What the record shows of a session; `null` where it has none. */
export function lookAt(session: string, why: string): Promise<TaskReport | null> {
  return scheduleActivity<TaskReport | null>("look-at-child", [{ session }], writeOptions(why));
}

const MAX_WORDS_BYTES = 512;

function wordsFor(cause: Error): string {
  if (cause instanceof TimeoutFailure) return "its time was up";
  if (cause instanceof CancelledFailure) return "it was cancelled before it began";
  return truncateForPreview(cause.message, MAX_WORDS_BYTES);
}
