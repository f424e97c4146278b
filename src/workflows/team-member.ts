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
  type ChildWorkflowHandle,
  scheduleActivity,
  startChild,
  type Workflow,
} from "@temporalio/workflow";
import { truncateForPreview } from "../core/preview.ts";
import type { TaskReport } from "../core/task.ts";
import type { MemberEnd } from "../core/team/team.ts";
import { writeOptions } from "./activity-options.ts";
import type { StartRequest } from "./input.ts";
import { RUN_FAILED, type RunResult } from "./result.ts";

/** The run of an agent that is a part of another's work. Cancelling the scope stops it, and waits for its end. */
export function runMember(
  session: string,
  request: StartRequest,
  summary: string,
): { readonly started: Promise<unknown>; readonly end: Promise<MemberEnd> } {
  const started: Promise<ChildWorkflowHandle<Workflow>> = startChild("agent", {
    workflowId: session,
    args: [request],
    staticSummary: summary,
    // A parent that is terminated has its agents stopped, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  });
  const end = started
    .then((handle) => handle.result() as Promise<RunResult>)
    .then(ended, (error) => failed(session, error));
  return { started: started.catch(() => undefined), end };
}

function ended({ report }: RunResult): MemberEnd {
  return report === undefined
    ? { type: "lost", how: "it ended without a report" }
    : { type: "reported", report };
}

/** A run that failed reports all the same; of one that is gone, its record is asked. */
function failed(session: string, error: unknown): MemberEnd | Promise<MemberEnd> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { type: "lost", how: `there is a run of ${session} already` };
  }
  if (!(error instanceof ChildWorkflowFailure) && !(error instanceof CancelledFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    return ended((cause.details?.[0] ?? {}) as RunResult);
  }
  const how = wordsFor(cause ?? error);
  const look = () =>
    scheduleActivity<TaskReport | null>("look-at-child", [{ session }], writeOptions("an agent is gone"));
  return CancellationScope.nonCancellable(look).then(
    (report): MemberEnd => ({ type: "lost", how, ...(report === null ? {} : { report }) }),
    (problem): MemberEnd => {
      if (!(problem instanceof ActivityFailure)) throw problem;
      return { type: "lost", how };
    },
  );
}

const MAX_WORDS_BYTES = 512;

function wordsFor(cause: Error): string {
  if (cause instanceof TimeoutFailure) return "its time was up";
  if (cause instanceof CancelledFailure) return "it was cancelled before it began";
  return truncateForPreview(cause.message, MAX_WORDS_BYTES);
}
