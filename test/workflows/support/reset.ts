import type { temporal } from "@temporalio/proto";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** The activities that were scheduled, by type, with the events that scheduled them and that said how they ended. */
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
        /** The workflow task that has asked for it: a reset there has it asked for again. */
        askedBy: Number(scheduled.workflowTaskCompletedEventId),
      },
    ];
  });
}

/** Temporal's own reset: the workflow task with this event is done again, and all that came of it. Gives the new run. */
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
