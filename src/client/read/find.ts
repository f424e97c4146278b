import type { Cost } from "../../core/budget/usage.ts";
import type { StatusWord } from "../../core/machine/status.ts";
import type { ListedSession, SessionCursor, SessionFilter } from "../../store/transcript/archive.ts";
import { searchText, snippet } from "../../store/transcript/search-text.ts";
import type { Link } from "../connection/link.ts";
import { translated } from "../failures.ts";
import { newestLoop } from "../runs/newest-loop.ts";
import { statusWordOfLoop } from "../runs/status.ts";
import { sessionSeen } from "./cut-off.ts";

export type FindOptions = {
  readonly agent?: string;
  readonly model?: string;
  readonly status?: StatusWord;
  /** Active since then; before then. */
  readonly since?: Date;
  readonly until?: Date;
  /** More than so many dollars, of what is known to have been spent. */
  readonly costOver?: number;
  /** Sessions of sub-agents too; of those that no agent has called alone, unless said. */
  readonly children?: boolean;
  readonly limit?: number;
};

export type SessionsOptions = FindOptions & {
  /** Goes on behind the page that has given it. */
  readonly after?: string;
};

/** A session as the transcript knows it. */
export type FoundSession = {
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  readonly status: StatusWord;
  readonly createdAt: Date;
  readonly lastActiveAt: Date;
  readonly loops: number;
  readonly turns: number;
  /** `null` when the price of any of its loops is unknown. */
  readonly costUsd: Cost;
  readonly scope: "ephemeral" | "persistent";
  /** The session of the agent that has called it. */
  readonly calledBy?: string;
};

export type SessionsPage = {
  readonly sessions: readonly FoundSession[];
  /** For the next page; absent behind the last. */
  readonly after?: string;
};

const PAGE = 50;

/** Sessions of the transcript, the newest activity first. */
export async function findSessions(link: Link, options: SessionsOptions = {}): Promise<SessionsPage> {
  const { limit = PAGE, after, status } = options;
  try {
    const transcript = await link.storage.existing();
    if (transcript === undefined) return { sessions: [] };
    const found: FoundSession[] = [];
    let behind = after === undefined ? undefined : cursorFrom(after);
    for (;;) {
      const rows = await transcript.archive.list(filterOf(options), { limit, behind });
      for (const row of rows) {
        behind = { lastActiveAtMs: row.lastActiveAtMs, id: row.id };
        const seen = row.status === "running" ? await sessionSeen(link, transcript, row.id) : row;
        const one = foundOf({ ...row, ...seen }, await outcomeOf(link, row));
        if (status === undefined || one.status === status) found.push(one);
        if (found.length === limit) return { sessions: found, after: cursorText(behind) };
      }
      if (rows.length < limit) return { sessions: found };
    }
  } catch (error) {
    throw translated(error, link, "");
  }
}

/** A limit that was met is told by the loop alone. */
async function outcomeOf(link: Link, { status, id }: ListedSession) {
  if (status !== "completed") return undefined;
  const loops = (await (await link.storage.existing())?.loops(id)) ?? [];
  return newestLoop(loops)?.outcome;
}

function foundOf(row: ListedSession, outcome: Parameters<typeof statusWordOfLoop>[1]): FoundSession {
  return {
    session: row.id,
    agent: row.agentName,
    model: row.model,
    status: row.status === "running" ? "running" : statusWordOfLoop(row.status, outcome),
    createdAt: new Date(row.createdAtMs),
    lastActiveAt: new Date(row.lastActiveAtMs),
    loops: row.loops,
    turns: row.totals.turns,
    costUsd: row.totals.costUsd,
    scope: row.scope ?? "ephemeral",
    ...(row.spawn === undefined ? {} : { calledBy: row.spawn.session }),
  };
}

function filterOf({ agent, model, since, until, costOver, children = false }: FindOptions): SessionFilter {
  return {
    agentName: agent,
    model,
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    costOverUsd: costOver,
    spawnedBy: children ? undefined : null,
  };
}

function cursorText({ lastActiveAtMs, id }: SessionCursor): string {
  return Buffer.from(JSON.stringify([lastActiveAtMs, id])).toString("base64url");
}

function cursorFrom(text: string): SessionCursor {
  const [lastActiveAtMs, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as [number, string];
  return { lastActiveAtMs, id };
}

export type SearchOptions = FindOptions & {
  /** Goes on behind this hit's cursor. */
  readonly after?: number;
};

export type Hit = {
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  readonly branch: string;
  readonly position: number;
  readonly role: string;
  readonly at?: Date;
  /** The place in the message, with what stands around it. */
  readonly snippet: string;
  readonly cursor: number;
};

/** Messages that hold all words, the newest session first. Sub-agents' are among them. */
export async function search(
  link: Link,
  words: string,
  options: SearchOptions = {},
): Promise<readonly Hit[]> {
  const { limit = 20, after, status } = options;
  try {
    const transcript = await link.storage.existing();
    if (transcript === undefined) return [];
    const hits: Hit[] = [];
    for (let behind = after; hits.length < limit; ) {
      const query = { ...filterOf({ children: true, ...options }), words, limit, behind };
      const page = await transcript.archive.search(query);
      for (const { session, branch, position, message, cursor } of page) {
        behind = cursor;
        if (status !== undefined && statusWordOfLoop(session.status, undefined) !== status) continue;
        hits.push({
          session: session.id,
          agent: session.agentName,
          model: session.model,
          branch,
          position,
          role: message.role,
          ...(message.timestamp === undefined ? {} : { at: new Date(message.timestamp) }),
          snippet: snippet(searchText(message), words),
          cursor,
        });
        if (hits.length === limit) break;
      }
      if (page.length < limit) break;
    }
    return hits;
  } catch (error) {
    throw translated(error, link, "");
  }
}
