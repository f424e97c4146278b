import { getExternalWorkflowHandle } from "@temporalio/workflow";
import { type Words, wakeSignal } from "./messages.ts";

/** A schedule can only start workflows: this one wakes a job that sleeps, and ends. */
export async function wakeJob({
  job,
  words,
}: {
  readonly job: string;
  readonly words?: Words;
}): Promise<void> {
  await getExternalWorkflowHandle(job).signal(wakeSignal, ...(words === undefined ? [] : [words]));
}
