import { getExternalWorkflowHandle } from "@temporalio/workflow";
import { type MessageInput, wakeSignal } from "./messages.ts";
import { checkRequest } from "./request-shapes.ts";

/** A schedule can only start workflows: this one wakes a job that sleeps, and ends. */
export async function wakeJob(request: {
  readonly job: string;
  readonly words?: MessageInput;
}): Promise<void> {
  checkRequest(request, "wakeJob");
  const { job, words: message } = request;
  await getExternalWorkflowHandle(job).signal(wakeSignal, ...(message === undefined ? [] : [message]));
}
