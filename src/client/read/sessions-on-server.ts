import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Cost } from "../../core/budget/usage.ts";
import type { StatusCode } from "../../core/machine/status-code.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { AGENT_WORKFLOW, EVALUATION_WORKFLOW, isPartWorkflow } from "../../workflows/messages.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { KEYS } from "../runs/run-labels.ts";
import { toStatus } from "../runs/session-status.ts";

/** A session as the server describes its newest run. */
export type ServerSession = {
  readonly session: string;
  readonly status: StatusCode;
  readonly title: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly turns: number | undefined;
  readonly costUsd: Cost;
  /** The session or job that has started its run; absent for none. */
  readonly calledBy?: string;
  /** Absent for the root of its tree. */
  readonly root?: string;
  readonly startedAt: Date;
  readonly closedAt: Date | undefined;
};

/** The runs per request to the server. */
const PAGE = 200;

/** Lists the sessions with an open run, by id, the newest run first. */
export async function listOpenSessions(link: ClientLink): Promise<ReadonlyMap<string, ServerSession>> {
  const found = new Map<string, ServerSession>();
  for await (const one of listRuns(link, 'ExecutionStatus = "Running"')) found.set(one.session, one);
  return found;
}

/**
 * Lists the sessions without an open run, the one that was closed last first.
 *
 * Filters by agent but not by status: otherwise a session's older runs could match in place of its newest.
 */
export async function* listClosedSessions(
  link: ClientLink,
  open: ReadonlyMap<string, ServerSession>,
  agent: string | undefined,
): AsyncGenerator<ServerSession, void, void> {
  const ids = new Set(open.keys());
  const ofAgent =
    agent === undefined || !link.searchAttributes ? "" : ` AND HoldfastAgent = ${quoteValue(agent)}`;
  for await (const one of listRuns(link, `ExecutionStatus != "Running"${ofAgent}`)) {
    if (ids.has(one.session)) continue;
    ids.add(one.session);
    yield one;
  }
}

async function* listRuns(link: ClientLink, filter: string): AsyncGenerator<ServerSession, void, void> {
  const types = [AGENT_WORKFLOW, EVALUATION_WORKFLOW].map(quoteValue).join(", ");
  const query = `WorkflowType IN (${types}) AND ${filter}`;
  for await (const info of link.client.workflow.list({ query, pageSize: PAGE })) {
    if (!isPartWorkflow(info.workflowId)) yield toServerSession(info);
  }
}

/** Quotes a value for a query of the server. */
export function quoteValue(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function toServerSession(info: WorkflowExecutionInfo): ServerSession {
  const attributes = info.typedSearchAttributes;
  const root = info.rootExecution?.workflowId;
  const calledBy = info.parentExecution?.workflowId;
  return {
    session: info.workflowId,
    status: toStatus(info.status.name, attributes.get(KEYS.status)),
    title: attributes.get(KEYS.title),
    agent: attributes.get(KEYS.agent),
    model: attributes.get(KEYS.model),
    turns: attributes.get(KEYS.turns),
    costUsd: attributes.get(KEYS.costUsd) ?? null,
    ...omitUndefined({ calledBy: calledBy ?? undefined }),
    ...(root === undefined || root === null || root === info.workflowId ? {} : { root }),
    startedAt: info.startTime,
    closedAt: info.closeTime,
  };
}
