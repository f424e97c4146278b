import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { RunStatus } from "../../core/machine/status.ts";
import { AGENT_WORKFLOW, statusQuery } from "../../workflows/messages.ts";
import { isRunNotFound, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { listPendingActivities, type PendingActivity } from "./pending-activity.ts";
import { KEYS } from "./run-labels.ts";

// The runs of a tree, as the server describes each: a pending call is found at once, whether or not search attributes
// are set.

/** An open run below another one. */
export type OpenRun = {
  readonly session: string;
  /** The workflow type. */
  readonly type: string;
  /** The names of the agents on the path down to it, its own last. */
  readonly path: readonly string[];
  /** Steps that are being retried. */
  readonly retrying: readonly PendingActivity[];
  /** The status that the run reports; absent without search attributes, and before its first step. */
  readonly status: string | undefined;
};

/** How long a worker may take to answer a status query. */
const QUERY_TIMEOUT_MS = 3_000;
/** The maximum number of concurrent requests to the server. */
const MAX_CONCURRENT = 16;

/** Returns `undefined` if the server has no run of this session, or has deleted it. */
export async function describeRun(
  link: ClientLink,
  session: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await link.client.workflow.getHandle(session).describe();
  } catch (error) {
    if (isRunNotFound(error)) return undefined;
    throw toHoldfastError(error, link, session);
  }
}

export function isOpen({ status }: WorkflowExecutionDescription): boolean {
  return status.name === "RUNNING" || status.name === "PAUSED";
}

/** Asks a run for its status. Returns nothing if no worker answers. */
export async function askStatus(
  link: ClientLink,
  session: string,
  timeoutMs = QUERY_TIMEOUT_MS,
): Promise<RunStatus | undefined> {
  return link.connection
    .withDeadline(Date.now() + timeoutMs, () => link.client.workflow.getHandle(session).query(statusQuery))
    .catch(() => undefined);
}

/** Finds all open runs below one, level by level; omits those that end meanwhile. */
export async function findRunsBelow(
  link: ClientLink,
  root: WorkflowExecutionDescription,
): Promise<readonly OpenRun[]> {
  const found: OpenRun[] = [];
  let level = getChildIds(root).map((session) => ({ session, above: [] as readonly string[] }));
  while (level.length > 0) {
    const described = await mapWithConcurrency(level, async ({ session, above }) => {
      const description = await describeRun(link, session);
      if (description === undefined || !isOpen(description)) return undefined;
      const { type, typedSearchAttributes: attributes } = description;
      const name = attributes.get(KEYS.agent) ?? (await readStableId(link, session, type));
      const pending = await listPendingActivities(link, description);
      const retrying = pending.filter(({ lastFailure, wait }) => lastFailure ?? wait);
      const run = { session, type, path: [...above, name], retrying, status: attributes.get(KEYS.status) };
      return { run, children: getChildIds(description) };
    });
    const open = described.filter((one) => one !== undefined);
    found.push(...open.map(({ run }) => run));
    level = open.flatMap(({ run, children }) => children.map((session) => ({ session, above: run.path })));
  }
  return found;
}

async function readStableId(link: ClientLink, session: string, type: string): Promise<string> {
  return type === AGENT_WORKFLOW ? ((await askStatus(link, session))?.agent ?? session) : type;
}

function getChildIds({ raw }: WorkflowExecutionDescription): readonly string[] {
  return (raw.pendingChildren ?? []).flatMap(({ workflowId }) => workflowId ?? []);
}

/** Maps the items with limited concurrency; results keep the order. */
export async function mapWithConcurrency<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await map(items[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker));
  return results;
}
