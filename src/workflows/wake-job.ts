import { getExternalWorkflowHandle } from "@temporalio/workflow";
import { type MessageInput, wakeSignal } from "./messages.ts";
import { checkRequest } from "./request-shapes.ts";

/** Wakes a job that sleeps, and ends. A schedule can only start workflows, so it starts this one. */
export async function wakeJob(request: {
  readonly job: string;
  readonly message?: MessageInput;
}): Promise<void> {
  checkRequest(request, "wakeJob");
  const { job, message } = request;
  await getExternalWorkflowHandle(job).signal(wakeSignal, ...(message === undefined ? [] : [message]));
}
