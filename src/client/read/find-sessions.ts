import type { Cost } from "../../core/budget/usage.ts";
import type { StatusCode } from "../../core/machine/status.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ListedSession, SessionCursor, SessionFilter } from "../../store/transcript/archive.ts";
import { buildSnippet, getSearchText } from "../../store/transcript/search-text.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { toLoopStatus } from "../runs/session-status.ts";
import { readRefreshedSession } from "./abort-cut-off-loops.ts";

export type FindOptions = {
  readonly agent?: string;
  readonly model?: string;
  readonly status?: StatusCode;
  /** Sessions that were active at or after this time. */
  readonly since?: Date;
  readonly until?: Date;
  /** Sessions that cost more than this, in US dollars, as far as costs are known. */
  readonly costOver?: number;
  /** Includes the sessions of sub-agents. By default, only sessions that no agent called. */
  readonly children?: boolean;
  readonly limit?: number;
};

export type SessionsOptions = FindOptions & {
  /** The `after` value of the preceding page. */
  readonly after?: string;
};

/** A session as the transcript stores it. */
export type FoundSession = {
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  readonly status: StatusCode;
  readonly createdAt: Date;
  readonly lastActiveAt: Date;
  readonly loops: number;
  readonly turns: number;
  /** `null` if the price of any of its loops is unknown. */
  readonly costUsd: Cost;
  readonly scope: "ephemeral" | "persistent";
  /** The session of the calling agent. */
  readonly calledBy?: string;
};

export type SessionsPage = {
  readonly sessions: readonly FoundSession[];
  /** For the next page; absent on the last one. */
  readonly after?: string;
};

const PAGE = 50;

/** Finds sessions of the transcript, the most recently active first. */
export async function findSessions(link: ClientLink, options: SessionsOptions = {}): Promise<SessionsPage> {
  const { limit = PAGE, after, status } = options;
  try {
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined) return { sessions: [] };
    const found: FoundSession[] = [];
    let afterCursor = after === undefined ? undefined : parseSessionCursor(after);
    for (;;) {
      const rows = await transcript.archive.list(toSessionFilter(options), { limit, after: afterCursor });
      for (const row of rows) {
        afterCursor = { lastActiveAtMs: row.lastActiveAtMs, id: row.id };
        const refreshed =
          row.status === "running" ? await readRefreshedSession(link, transcript, row.id) : row;
        const one = toFoundSession({ ...row, ...refreshed }, await createOutcomeReader(link, row));
        if (status === undefined || one.status === status) found.push(one);
        if (found.length === limit) return { sessions: found, after: formatSessionCursor(afterCursor) };
      }
      if (rows.length < limit) return { sessions: found };
    }
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
}

/** Reads the outcome of the newest loop: only the loop records that a limit was reached. */
async function createOutcomeReader(link: ClientLink, { status, id }: ListedSession) {
  if (status !== "completed") return undefined;
  const loops = (await (await link.storage.openExistingTranscript())?.readLoops(id)) ?? [];
  return findNewestLoop(loops)?.outcome;
}

function toFoundSession(row: ListedSession, outcome: Parameters<typeof toLoopStatus>[1]): FoundSession {
  return {
    session: row.id,
    agent: row.agentName,
    model: row.model,
    status: row.status === "running" ? "running" : toLoopStatus(row.status, outcome),
    createdAt: new Date(row.createdAtMs),
    lastActiveAt: new Date(row.lastActiveAtMs),
    loops: row.loops,
    turns: row.totals.turns,
    costUsd: row.totals.costUsd,
    scope: row.scope ?? "ephemeral",
    ...omitUndefined({ calledBy: row.spawn?.session }),
  };
}

function toSessionFilter({
  agent,
  model,
  since,
  until,
  costOver,
  children = false,
}: FindOptions): SessionFilter {
  return {
    agentName: agent,
    model,
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    costOverUsd: costOver,
    spawnedBy: children ? undefined : null,
  };
}

function formatSessionCursor({ lastActiveAtMs, id }: SessionCursor): string {
  return Buffer.from(JSON.stringify([lastActiveAtMs, id])).toString("base64url");
}

function parseSessionCursor(text: string): SessionCursor {
  const [lastActiveAtMs, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [number, string];
  return { lastActiveAtMs, id };
}

export type SearchOptions = FindOptions & {
  /** Continues after the hit with this cursor. */
  readonly after?: number;
};

export type SearchHit = {
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  readonly branch: string;
  readonly position: number;
  readonly role: string;
  readonly at?: Date;
  /** The matching text with its surroundings in the message. */
  readonly snippet: string;
  readonly cursor: number;
};

/** Finds messages that contain all words of the query, the newest session first. Includes those of sub-agents. */
export async function searchMessages(
  link: ClientLink,
  query: string,
  options: SearchOptions = {},
): Promise<readonly SearchHit[]> {
  const { limit = 20, after, status } = options;
  try {
    const transcript = await link.storage.openExistingTranscript();
    if (transcript === undefined) return [];
    const hits: SearchHit[] = [];
    for (let afterCursor = after; hits.length < limit; ) {
      const searchQuery = {
        ...toSessionFilter({ children: true, ...options }),
        terms: query,
        limit,
        after: afterCursor,
      };
      const page = await transcript.archive.search(searchQuery);
      for (const { session, branch, position, message, cursor } of page) {
        afterCursor = cursor;
        if (status !== undefined && toLoopStatus(session.status, undefined) !== status) continue;
        hits.push({
          session: session.id,
          agent: session.agentName,
          model: session.model,
          branch,
          position,
          role: message.role,
          ...(message.timestamp === undefined ? {} : { at: new Date(message.timestamp) }),
          snippet: buildSnippet(getSearchText(message), query),
          cursor,
        });
        if (hits.length === limit) break;
      }
      if (page.length < limit) break;
    }
    return hits;
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
}
