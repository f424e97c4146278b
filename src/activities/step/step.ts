import { Context } from "@temporalio/activity";
import type { Step, StepKey } from "../../store/transcript/step.ts";

/**
 * Returns the current step. It is read from the activity's own context, because a reset changes what workflow code
 * knows.
 */
export function getCurrentStep(
  command: { number: number; generation: number; call?: number; session?: string },
  process: string,
): Step {
  const { info } = Context.current();
  if (info.workflowExecution === undefined)
    throw new TypeError(`${info.activityType} belongs to no workflow`);
  const { workflowId } = info.workflowExecution;
  const { session = workflowId } = command;
  return {
    session,
    ...(session === workflowId ? {} : { workflow: workflowId }),
    run: info.workflowExecution.runId,
    number: command.number,
    call: command.call ?? NO_CALL,
    generation: command.generation,
    kind: info.activityType,
    process,
    ...(info.isLocal ? {} : { activityId: info.activityId }),
  };
}

/**
 * The call number of a step that is no tool call. It differs from all call numbers, because the number of a local step
 * whose workflow task was lost may be given to another command when the task runs again.
 */
const NO_CALL = -1;

/**
 * Builds a key that is the same for every execution of one call. The processes of a tool find it in their environment,
 * and external services may use it.
 */
export function buildIdempotencyKey({ run, number, call }: StepKey): string {
  return `${run}/${number}/${call}`;
}
