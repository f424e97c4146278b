import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";

/**
 * Takes the running activities of a run from their worker, in the words of the recovery that finds a process dead.
 * What still works on them is fenced off: it writes nothing that counts.
 */
export async function loseActivities(client: Client, session: string, attempts: number): Promise<void> {
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
