import { scheduleActivity, scheduleLocalActivity, workflowInfo } from "@temporalio/workflow";
import { CALL_TOOL } from "../core/machine/activity-names.ts";
import type { CallToolCommand } from "../core/machine/state/activity-command.ts";
import type { ToolDigest } from "../core/machine/state/digest.ts";
import type { RunEvent } from "../core/machine/state/run-event.ts";
import type { StepCommand } from "../core/machine/state/step-forms.ts";
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

// For each promise of a workflow the SDK takes a stack trace and maps it back to its sources, which is most of the cost of a
// short activation. A driver that awaits `result` itself needs no other promise.

/** An activity that has started, and the events to which its result and its failure are converted. */
export type StartedActivity = {
  readonly result: Promise<unknown>;
  readonly toEvent: (digest: unknown) => UntimedEvent;
  readonly toFailedEvent: (error: unknown) => UntimedEvent;
};

/** Returns the event of a started activity. */
export function awaitEvent({ result, toEvent, toFailedEvent }: StartedActivity): Promise<UntimedEvent> {
  return result.then(toEvent, toFailedEvent);
}

/** Starts one step through its activity. */
export function startStep(command: StepCommand, model: string | undefined): StartedActivity {
  const { activity, retry, done, failed, label } = STEPS[command.type];
  const {
    type,
    maxAttempts = ASK_ATTEMPTS,
    ...input
  } = { maxAttempts: undefined, ...omitOwnSession(command) };
  // The row has the command's own type, which TypeScript cannot infer here.
  const summary = (label as (command: StepCommand, model: string | undefined) => string)(command, model);
  const options = retry === "write" ? buildWriteOptions(summary) : buildModelOptions(maxAttempts, summary);
  return {
    result: scheduleActivity(
      activity,
      [type === "open-loop" ? { ...input, ...getFirstRun() } : input],
      options,
    ),
    toEvent: (digest) => ({ type: done, digest }) as UntimedEvent,
    toFailedEvent: (error) => ({ type: failed, failure: toStepFailure(error, false) }),
  };
}

/**
 * Starts one tool call. The activity's type is the tool's own name, which the timeline and the metrics display, unless
 * the worker that opened the loop has no activity of that name.
 */
export function startTool(command: CallToolCommand): StartedActivity {
  const { isLocal, timeoutMs, queue, summary, toolName, isUnregistered, sandbox, ...own } =
    omitOwnSession(command);
  const [activity, input, name] =
    isUnregistered === true ? [CALL_TOOL, { ...own, tool: toolName }, toolName] : [toolName, own, ""];
  const place = sandbox === undefined ? "" : `sandbox: ${sandbox}`;
  const label = [`turn ${command.turn}`, name, summary, place].filter((text) => text !== "").join(" · ");
  return {
    result: isLocal
      ? scheduleLocalActivity(activity, [input], buildLocalOptions(label))
      : scheduleActivity(activity, [input], buildToolOptions(timeoutMs, queue, label)),
    toEvent: (digest) => ({ type: "tool-finished", call: command.call, digest: digest as ToolDigest }),
    toFailedEvent: (error) => ({
      type: "tool-failed",
      call: command.call,
      failure: toStepFailure(error, isLocal),
    }),
  };
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
