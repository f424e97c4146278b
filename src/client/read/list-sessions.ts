import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Cost } from "../../core/budget/usage.ts";
import type { StatusCode } from "../../core/machine/status.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { SessionRecord } from "../../store/transcript/session.ts";
import { AGENT_WORKFLOW, EVALUATION_WORKFLOW, isPartWorkflow } from "../../workflows/messages.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { KEYS } from "../runs/run-labels.ts";
import { toLoopStatus, toStatus } from "../runs/session-status.ts";

export type ListOptions = {
  readonly status?: StatusCode;
  /** The agent's name. */
  readonly agent?: string;
  /** 50 by default. */
  readonly limit?: number;
};

export type SessionSummary = {
  readonly session: string;
  readonly status: StatusCode;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly turns: number | undefined;
  /**
   * Includes the cost of its ended sub-agents, which are also listed on their own. `null` if the cost is
   * unknown: a model has no known price, or only the transcript has the session.
   */
  readonly costUsd: Cost;
  /** The session at the root of its tree; absent for a session that is alone or is the root. */
  readonly root?: string;
  readonly startedAt: Date;
  readonly closedAt: Date | undefined;
  /** The server deletes a session after its retention period; the transcript does not. */
  readonly source: "server" | "transcript";
};

const DEFAULT_LIMIT = 50;

/** Lists sessions, the newest run first: those of the server, then those that only the transcript has. */
export async function listSessions(
  link: ClientLink,
  options: ListOptions = {},
): Promise<readonly SessionSummary[]> {
  const limit = options.limit ?? DEFAULT_LIMIT;
  const found = new Map<string, SessionSummary>();
  const wanted = (summary: SessionSummary) =>
    (options.status === undefined || summary.status === options.status) &&
    (options.agent === undefined || summary.agent === options.agent);
  const sessionIds = new Set<string>();
  const addSummary = (summary: SessionSummary): boolean => {
    if (!sessionIds.has(summary.session) && wanted(summary)) found.set(summary.session, summary);
    sessionIds.add(summary.session);
    return found.size < limit;
  };
  try {
    for await (const info of link.client.workflow.list({
      query: buildListQuery(link, options),
      pageSize: 200,
    })) {
      if (!isPartWorkflow(info.workflowId) && !addSummary(toSummaryFromServer(info))) break;
    }
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
  if (found.size < limit) {
    const transcript = await link.storage.openExistingTranscript();
    const filter = {
      limit: limit + sessionIds.size,
      ...omitUndefined({ agentName: options.agent }),
    };
    for (const record of (await transcript?.findSessions(filter)) ?? []) {
      if (!addSummary(toSummaryFromTranscript(record))) break;
    }
  }
  return Promise.all([...found.values()].map((summary) => addRecordedNames(link, summary)));
}

/** A run that only put a message into the inbox has neither agent nor model. */
async function addRecordedNames(link: ClientLink, summary: SessionSummary): Promise<SessionSummary> {
  if (summary.agent !== undefined) return summary;
  const record = await (await link.storage.openExistingTranscript())?.readSession(summary.session);
  return record === undefined ? summary : { ...summary, agent: record.agentName, model: record.model };
}

/**
 * Filters by agent but not by status: otherwise a session's older runs could match in place of its newest.
 */
function buildListQuery(link: ClientLink, { agent }: ListOptions): string {
  const type = `WorkflowType IN (${quoteValue(AGENT_WORKFLOW)}, ${quoteValue(EVALUATION_WORKFLOW)})`;
  return agent !== undefined && link.searchAttributes
    ? `${type} AND HoldfastAgent = ${quoteValue(agent)}`
    : type;
}

function quoteValue(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function toSummaryFromServer(info: WorkflowExecutionInfo): SessionSummary {
  const attributes = info.typedSearchAttributes;
  const root = info.rootExecution?.workflowId;
  return {
    session: info.workflowId,
    status: toStatus(info.status.name, attributes.get(KEYS.status)),
    agent: attributes.get(KEYS.agent),
    model: attributes.get(KEYS.model),
    turns: attributes.get(KEYS.turns),
    costUsd: attributes.get(KEYS.costUsd) ?? null,
    ...(root === undefined || root === null || root === info.workflowId ? {} : { root }),
    startedAt: info.startTime,
    closedAt: info.closeTime,
    source: "server",
  };
}

function toSummaryFromTranscript(record: SessionRecord): SessionSummary {
  return {
    session: record.id,
    status: toLoopStatus(record.status, undefined),
    agent: record.agentName,
    model: record.model,
    turns: undefined,
    costUsd: null,
    startedAt: new Date(record.createdAtMs),
    closedAt: new Date(record.lastActiveAtMs),
    source: "transcript",
  };
}
