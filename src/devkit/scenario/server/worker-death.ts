import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { ClaimResult, LostExecution } from "../../../store/transcript/step.ts";

/**
 * Fails the running activities of a run with the failure of dead-worker detection. Executions that still run are fenced
 * off: their writes do not count. The process continues, because it also serves other runs; `toDeadWorkerClaim` makes
 * claims treat it as dead.
 */
export async function failPendingActivities(
  client: Client,
  session: string,
  attempts: number,
): Promise<void> {
  const { raw, runId } = await client.workflow.getHandle(session).describe();
  const { namespace } = client.options;
  for (const { activityId } of raw.pendingActivities ?? []) {
    await client.workflowService.respondActivityTaskFailedById({
      namespace,
      workflowId: session,
      runId,
      activityId: activityId ?? "",
      identity: "scenario",
      failure: {
        message: "The worker process died",
        source: "holdfast",
        applicationFailureInfo: {
          type: "WorkerLost",
          nonRetryable: true,
          details: { payloads: [defaultPayloadConverter.toPayload({ attempts })] },
        },
      },
    });
  }
}

/** Converts a claim to one after a worker's death: the executions that it displaced belong to a dead process. */
export function toDeadWorkerClaim(claimed: ClaimResult): ClaimResult {
  if (claimed.type !== "claimed" || claimed.lostExecution === undefined) return claimed;
  const { lostExecution, earlierLostExecutions } = claimed;
  return {
    ...claimed,
    lostExecution: maskProcess(lostExecution),
    ...omitUndefined({ earlierLostExecutions: earlierLostExecutions?.map(maskProcess) }),
  };
}

/** A dead process with the same process id, from the start of the machine: process ids are reused. */
function maskProcess(execution: LostExecution): LostExecution {
  return { ...execution, process: execution.process.replace(/(:\d+):[^:@]*@/, "$1:0@") };
}
