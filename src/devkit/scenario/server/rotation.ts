import type { Client, WorkflowHandle } from "@temporalio/client";
import { clearQueuesSignal, statusQuery } from "../../../workflows/messages.ts";

// A run continues as new when its history is long enough. The driver lengthens it with signals that have no effect.

/** More events than a scenario needs by itself. */
export const LONG_HISTORY = 150;

export async function lengthenHistory(handle: WorkflowHandle): Promise<void> {
  const { historyLength } = await handle.describe();
  const nothing = Array.from({ length: Math.max(1, LONG_HISTORY - historyLength) });
  await Promise.all(nothing.map(() => handle.signal(clearQueuesSignal, "nothing" as "all")));
  await handle.query(statusQuery);
}

/** Counts how often a run continued as new. */
export async function countContinuations(client: Client, session: string, firstRun: string): Promise<number> {
  let count = 0;
  for (let run = await findNextRun(client, session, firstRun); run !== undefined; count++) {
    run = await findNextRun(client, session, run);
  }
  return count;
}

async function findNextRun(client: Client, session: string, run: string): Promise<string | undefined> {
  const { events } = await client.workflow.getHandle(session, run).fetchHistory();
  const last = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
  return last?.newExecutionRunId ?? undefined;
}
