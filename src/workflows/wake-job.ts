import { getExternalWorkflowHandle } from "@temporalio/workflow";
import { type MessageInput, wakeSignal } from "./messages.ts";
import { checkRequest } from "./request-shapes.ts";

/** Wakes a job that sleeps, and ends. A schedule can only start workflows, so it starts this one. */
export async function wakeJob(request: {
  /** The id of the job. */
  readonly job: string;
  /** The agent's next prompt; by default a message that it was woken. */
  readonly message?: MessageInput;
}): Promise<void> {
  checkRequest(request, "wakeJob");
  const { job, message } = request;
  await getExternalWorkflowHandle(job).signal(wakeSignal, ...(message === undefined ? [] : [message]));
}
