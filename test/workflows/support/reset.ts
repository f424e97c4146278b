import type { temporal } from "@temporalio/proto";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The activities that were scheduled, by type, with the events that scheduled and ended them. */
export async function listActivities(session: TestSession) {
  const { events = [] } = await session.handle.fetchHistory();
  const all = (events ?? []) as HistoryEvent[];
  return all.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled === null || scheduled === undefined) return [];
    return [
      {
        type: scheduled.activityType?.name ?? "",
        scheduledId: Number(event.eventId),
        /** The workflow task that scheduled it: a reset to that task schedules it again. */
        askedBy: Number(scheduled.workflowTaskCompletedEventId),
      },
    ];
  });
}

/** Temporal's own reset: the workflow task with this event runs again, and everything after it. Returns the new run. */
export async function resetTo(
  stage: TestEnvironment,
  session: TestSession,
  workflowTaskCompletedId: number,
): Promise<string> {
  const { runId } = await session.handle.describe();
  const { runId: made } = await stage.client.workflowService.resetWorkflowExecution({
    namespace: stage.namespace,
    workflowExecution: { workflowId: session.id, runId },
    reason: "a test",
    workflowTaskFinishEventId: workflowTaskCompletedId as never,
    requestId: `reset-${performance.now()}`,
  });
  return made;
}
