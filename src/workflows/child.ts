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
  uuid4,
  workflowInfo,
} from "@temporalio/workflow";
import type { CallToolCommand } from "../core/command.ts";
import { truncateForPreview } from "../core/preview.ts";
import type { TaskReport } from "../core/task.ts";
import { writeOptions } from "./activity-options.ts";
import type { RunSettings, StartRequest } from "./input.ts";
import type { Happening } from "./perform.ts";
import { RUN_FAILED, type RunResult } from "./result.ts";

type Child = NonNullable<CallToolCommand["child"]>;

/** Made in the run, so that a run that was reset makes another one (design 3.3). */
export function childSession(session: string): string {
  return `${session}.sub-${uuid4().slice(0, 8)}`;
}

/** The run of a sub-agent, from its beginning to its report. Cancelling the scope stops it, and waits for its end. */
export function performChild(
  command: CallToolCommand,
  child: Child,
  session: string,
  settings: RunSettings,
): Promise<Happening> {
  const { call, toolCallId, toolName, loopId, branch, answer, summary, arguments: changed } = command;
  const request: StartRequest = {
    definitionHash: child.definitionHash,
    settings,
    task: {
      spawn: { session: command.session, loopId, turn: command.turn, toolCallId, toolName },
      branch,
      answer,
      ...(changed === undefined ? {} : { arguments: changed }),
      summary,
      given: child.given,
    },
  };
  const label = summary === "" ? `turn ${command.turn}` : `turn ${command.turn} · ${summary}`;
  return startChild("agent", {
    workflowId: session,
    args: [request],
    staticSummary: `${toolName} · ${label}`,
    // A kill in the middle of a local step waits for it.
    workflowTaskTimeout: workflowInfo().taskTimeoutMs,
    // A parent that is terminated has its sub-agents stopped, and they close their records.
    parentClosePolicy: "REQUEST_CANCEL",
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
  })
    .then((handle) => handle.result() as Promise<RunResult>)
    .then(
      (result) => ended(call, result),
      (error) => failed(call, session, error),
    );
}

function ended(call: number, { report }: RunResult): Happening {
  return report === undefined
    ? { type: "child-lost", call, how: "it ended without a report" }
    : { type: "child-finished", call, report };
}

/** A run that failed reports all the same; of one that is gone, its record is asked. */
function failed(call: number, session: string, error: unknown): Happening | Promise<Happening> {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    return { type: "child-lost", call, how: `there is a run of ${session} already` };
  }
  if (!(error instanceof ChildWorkflowFailure) && !(error instanceof CancelledFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    return ended(call, (cause.details?.[0] ?? {}) as RunResult);
  }
  const how = wordsFor(cause ?? error);
  const look = () =>
    scheduleActivity<TaskReport | null>("look-at-child", [{ session }], writeOptions("a sub-agent is gone"));
  return CancellationScope.nonCancellable(look).then(
    (report) => ({ type: "child-lost", call, how, ...(report === null ? {} : { report }) }),
    (problem) => {
      if (!(problem instanceof ActivityFailure)) throw problem;
      return { type: "child-lost", call, how };
    },
  );
}

const MAX_WORDS_BYTES = 512;

function wordsFor(cause: Error): string {
  if (cause instanceof TimeoutFailure) return "its time was up";
  if (cause instanceof CancelledFailure) return "it was cancelled before it began";
  return truncateForPreview(cause.message, MAX_WORDS_BYTES);
}
