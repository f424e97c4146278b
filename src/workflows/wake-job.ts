import { getExternalWorkflowHandle } from "@temporalio/workflow";
import { type Words, wakeSignal } from "./messages.ts";
import { mustBeRequest } from "./request-shapes.ts";

/** A schedule can only start workflows: this one wakes a job that sleeps, and ends. */
export async function wakeJob(request: { readonly job: string; readonly words?: Words }): Promise<void> {
  mustBeRequest(request, "wakeJob");
  const { job, words } = request;
  await getExternalWorkflowHandle(job).signal(wakeSignal, ...(words === undefined ? [] : [words]));
}
