import { Context } from "@temporalio/activity";
import type { Step, StepKey } from "../../store/transcript/step.ts";

/** Who asks for this step: read from the activity's own context, because a reset changes what workflow code knows. */
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
 * The call of a step that is none of an answer's calls. Apart from those, because the number of a local step whose
 * workflow task was lost may be given to another command when the task is done again.
 */
const NO_CALL = -1;

/** The same for every execution of one call; in the environment of what it spawns, and at the outside's service. */
export function buildIdempotencyKey({ run, number, call }: StepKey): string {
  return `${run}/${number}/${call}`;
}
