import { scheduleActivity, scheduleLocalActivity, workflowInfo } from "@temporalio/workflow";
import { CALL_TOOL } from "../core/machine/activity-names.ts";
import type { CallToolCommand, StepCommand } from "../core/machine/state/command.ts";
import type { ToolDigest } from "../core/machine/state/digest.ts";
import type { RunEvent } from "../core/machine/state/run-event.ts";
import { ASK_ATTEMPTS, STEPS } from "../core/machine/steps.ts";
import {
  buildLocalOptions,
  buildModelOptions,
  buildToolOptions,
  buildWriteOptions,
} from "./activity-options.ts";
import { toStepFailure } from "./step-failure.ts";

/** An event without its time, which the driver adds. */
export type UntimedEvent = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, "atMs">
    : never
  : never;

// No `async` here: for each promise of a workflow the SDK takes a stack trace and maps it back to its sources, which is
// most of the cost of a short activation.

/** Runs one step through its activity, and returns the resulting event. */
export function runStep(command: StepCommand, model: string | undefined): Promise<UntimedEvent> {
  const { activity, retry, done, failed, label } = STEPS[command.type];
  const {
    type,
    maxAttempts = ASK_ATTEMPTS,
    ...input
  } = { maxAttempts: undefined, ...omitOwnSession(command) };
  // The row has the command's own type, which TypeScript cannot infer here.
  const summary = (label as (command: StepCommand, model: string | undefined) => string)(command, model);
  const options = retry === "write" ? buildWriteOptions(summary) : buildModelOptions(maxAttempts, summary);
  return scheduleActivity(
    activity,
    [type === "open-loop" ? { ...input, ...getFirstRun() } : input],
    options,
  ).then(
    (digest) => ({ type: done, digest }) as UntimedEvent,
    (error) => ({ type: failed, failure: toStepFailure(error, false) }),
  );
}

/**
 * Runs one tool call. The activity's type is the tool's own name, which the timeline and the metrics display, unless
 * the worker that opened the loop has no activity of that name.
 */
export function runTool(command: CallToolCommand): Promise<UntimedEvent> {
  const { isLocal, timeoutMs, queue, summary, toolName, isUnregistered, ...own } = omitOwnSession(command);
  const [activity, input, name] =
    isUnregistered === true ? [CALL_TOOL, { ...own, tool: toolName }, toolName] : [toolName, own, ""];
  const label = [`turn ${command.turn}`, name, summary].filter((text) => text !== "").join(" · ");
  const result = isLocal
    ? scheduleLocalActivity<ToolDigest>(activity, [input], buildLocalOptions(label))
    : scheduleActivity<ToolDigest>(activity, [input], buildToolOptions(timeoutMs, queue, label));
  return result.then(
    (digest) => ({ type: "tool-finished", call: command.call, digest }),
    (error) => ({ type: "tool-failed", call: command.call, failure: toStepFailure(error, isLocal) }),
  );
}

/** Removes the session from an activity's input unless its workflow has another id. */
function omitOwnSession<Command extends { readonly session: string }>({
  session,
  ...rest
}: Command): Omit<Command, "session"> & { readonly session?: string } {
  return session === workflowInfo().workflowId ? rest : { ...rest, session };
}

/** Returns the first run of this run's chain, if that is another run. */
function getFirstRun(): { readonly firstRun?: string } {
  const { firstExecutionRunId, runId } = workflowInfo();
  return firstExecutionRunId === runId ? {} : { firstRun: firstExecutionRunId };
}
