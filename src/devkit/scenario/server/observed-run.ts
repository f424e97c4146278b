import type { WorkflowHandle } from "@temporalio/client";
import type { RunStatus } from "../../../core/machine/status.ts";
import { eventually } from "../../../testing/eventually.ts";
import { statusQuery } from "../../../workflows/messages.ts";
import type { RunResult } from "../../../workflows/run-result.ts";
import { STEP_TIMEOUT_MS } from "./step-timeout.ts";

// What a follower observes of its run at the Temporal server.

/** Waits until the status of the run fulfils the condition. */
export async function waitForStatus(
  run: WorkflowHandle,
  is: (status: RunStatus) => boolean,
  what: string,
): Promise<void> {
  await eventually(async () => is(await run.query(statusQuery)), {
    timeoutMs: STEP_TIMEOUT_MS,
    everyMs: 5,
    what,
  });
}

/** Waits until a step has failed this often and waits for its next attempt. */
export async function waitForBackOff(run: WorkflowHandle, attempt: number): Promise<void> {
  await eventually(
    async () => {
      const { raw } = await run.describe();
      return raw.pendingActivities?.some((activity) => activity.attempt === attempt + 1);
    },
    { timeoutMs: STEP_TIMEOUT_MS, what: "the wait between two attempts" },
  );
}

/** Reads the result of the run, which a failed run has in the details of its failure. */
export async function readResult(run: WorkflowHandle): Promise<RunResult> {
  try {
    return (await run.result()) as RunResult;
  } catch (error) {
    const { cause } = error as { cause?: { details?: readonly RunResult[] } };
    const result = cause?.details?.[0];
    if (result === undefined) throw error;
    return result;
  }
}
