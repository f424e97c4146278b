import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import type { ClaimResult, LostExecution } from "../../../store/transcript/step.ts";

/**
 * Takes the running activities of a run from their worker, in the words of the recovery that finds a process dead.
 * What still works on them is fenced off: it writes nothing that counts. Its process goes on, for other runs live in
 * it: claims see a dead one by `toDeadWorkerClaim`.
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
        message: "The worker process is gone",
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

/** A claim as it is behind the death of a worker: the executions that it has displaced were of a process that is gone. */
export function toDeadWorkerClaim(claimed: ClaimResult): ClaimResult {
  if (claimed.type !== "claimed" || claimed.lost === undefined) return claimed;
  const { lost, lostBefore } = claimed;
  return {
    ...claimed,
    lost: maskProcess(lost),
    ...(lostBefore === undefined ? {} : { lostBefore: lostBefore.map(maskProcess) }),
  };
}

/** Process numbers come again: of this one there was an earlier process, from the start of the machine. */
function maskProcess(execution: LostExecution): LostExecution {
  return { ...execution, process: execution.process.replace(/(:\d+):[^:@]*@/, "$1:0@") };
}
