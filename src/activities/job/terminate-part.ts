import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/common";
import type { TerminatePartInput } from "../activity-types.ts";

/** The time in which the descendants of a terminated part, which the server cancels, may close their records. */
const GRACE_MS = 1_500;
const POLL_INTERVAL_MS = 100;

const REASON = "It did not respond to the stop of its parent run";

/** Terminates a run that does not respond, and the runs below it that do not end. A repetition changes nothing. */
export async function terminatePart({ workflowId }: TerminatePartInput): Promise<void> {
  const { client } = Context.current();
  const below = await listOpenDescendants(client, workflowId);
  await terminate(client, workflowId);
  const untilMs = Date.now() + GRACE_MS;
  let open = below;
  while (open.length > 0 && Date.now() < untilMs) {
    await sleep(POLL_INTERVAL_MS);
    open = await filterOpen(client, open);
  }
  for (const one of open) await terminate(client, one);
}

/** Lists all open runs below one run. */
async function listOpenDescendants(client: Client, workflow: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let level = await listChildren(client, workflow); level.length > 0; ) {
    found.push(...level);
    level = (await Promise.all(level.map((one) => listChildren(client, one)))).flat();
  }
  return found;
}

async function listChildren(client: Client, workflow: string): Promise<readonly string[]> {
  const described = await describeOpen(client, workflow);
  return (described?.raw.pendingChildren ?? []).flatMap(({ workflowId }) => workflowId ?? []);
}

async function filterOpen(client: Client, workflows: readonly string[]): Promise<readonly string[]> {
  const described = await Promise.all(workflows.map((one) => describeOpen(client, one)));
  return workflows.filter((_, index) => described[index] !== undefined);
}

async function describeOpen(client: Client, workflow: string) {
  try {
    const described = await client.workflow.getHandle(workflow).describe();
    return described.closeTime === undefined ? described : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function terminate(client: Client, workflow: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflow).terminate(REASON);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
