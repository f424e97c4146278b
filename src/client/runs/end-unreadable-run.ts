import { setTimeout as sleep } from "node:timers/promises";
import { isRunNotFound } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { readRefreshedSession } from "../read/abort-cut-off-loops.ts";
import { isOpen } from "./open-runs.ts";

/** How long a run with a failing workflow task has to take a stop: another worker may be able to read it. */
const DEADLINE_MS = 5_000;
const POLL_MS = 250;
/** The number of newest events that are searched for the last workflow task. */
const NEWEST_EVENTS = 50;

/**
 * Ends a run that cannot take a stop because its workflow task keeps failing: no worker can read its state or its
 * input. Terminates the run and marks it as aborted in the record. A run that works, or that waits for a worker, is
 * left to take the stop.
 */
export async function endIfUnreadable(link: ClientLink, session: string, reason: string): Promise<void> {
  const untilMs = Date.now() + DEADLINE_MS;
  let failure = await readTaskFailure(link, session);
  while (failure !== undefined && Date.now() < untilMs) {
    await sleep(POLL_MS);
    failure = await readTaskFailure(link, session);
  }
  if (failure === undefined) return;
  try {
    await link.client.workflow
      .getHandle(session)
      .terminate(
        `${reason}. Its workflow task failed, so that it could not take the stop request: ${failure}`,
      );
  } catch (error) {
    if (!isRunNotFound(error)) throw error;
  }
  const transcript = await link.storage.openExistingTranscript().catch(() => undefined);
  if (transcript !== undefined) await readRefreshedSession(link, transcript, session).catch(() => undefined);
}

/** Returns the failure of an open run's newest workflow task; nothing while the run works. */
async function readTaskFailure(link: ClientLink, session: string): Promise<string | undefined> {
  const run = await link.client.workflow
    .getHandle(session)
    .describe()
    .catch(() => undefined);
  if (run === undefined || !isOpen(run)) return undefined;
  if ((run.raw.pendingWorkflowTask?.attempt ?? 0) <= 1) return undefined;
  const { history } = await link.client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: link.namespace,
    execution: { workflowId: session, runId: run.runId },
    maximumPageSize: NEWEST_EVENTS,
  });
  for (const event of history?.events ?? []) {
    if (event.workflowTaskFailedEventAttributes != null) {
      return event.workflowTaskFailedEventAttributes.failure?.message ?? "no reason was given";
    }
    // The task completed, or its worker was lost: another worker takes it.
    if (event.workflowTaskCompletedEventAttributes != null) return undefined;
    if (event.workflowTaskTimedOutEventAttributes != null) return undefined;
  }
  return undefined;
}
