import type { Cost } from "../../core/budget/usage.ts";
import type { StatusCode } from "../../core/machine/status-code.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ListedSession } from "../../store/transcript/archive.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findNewestLoop } from "../runs/find-newest-loop.ts";
import { toLoopStatus } from "../runs/session-status.ts";
import { readRefreshedSession } from "./abort-cut-off-loops.ts";
import { type FindOptions, toSessionFilter } from "./session-filter.ts";
import { formatPageCursor, type PageCursor, parsePageCursor } from "./session-page-cursor.ts";
import { listClosedSessions, listOpenSessions, type ServerSession } from "./sessions-on-server.ts";

/** Which sessions to list, and from where. */
export type ListOptions = FindOptions & {
  /** The `after` value of the preceding page. */
  readonly after?: string;
};

/** A session in a list: its state and its totals, without its content. */
export type SessionSummary = {
  readonly session: string;
  /** Whether it runs, or how its newest loop ended. */
  readonly status: StatusCode;
  /** The source of the status: the server's description of a run, or the transcript. */
  readonly source: "server" | "transcript";
  /** The session's title; absent for one without a prompt, and where Temporal alone has the session and shows no titles. */
  readonly title?: string;
  /** Absent for a session without a loop: a run that waits for a worker, or only put a message into the inbox. */
  readonly agent?: string;
  /** The id of the model. Absent like `agent`. */
  readonly model?: string;
  /** When the session was created. */
  readonly createdAt: Date;
  /** When the session last changed. */
  readonly lastActiveAt: Date;
  /** Absent if the transcript on this machine does not have the session. */
  readonly loops?: number;
  /** Of all recorded loops; of an open run what it has reported so far. */
  readonly turns?: number;
  /** In US dollars, as `turns`. An open run includes its ended sub-agents. `null` if the cost is unknown. */
  readonly costUsd: Cost;
  /** Whether retention policies may delete it; `persistent` sessions stay. */
  readonly scope?: "ephemeral" | "persistent";
  /** The session of the calling agent. */
  readonly calledBy?: string;
  /** The session at the root of its tree; absent for the root. */
  readonly root?: string;
};

/** One page of a list of sessions. */
export type SessionsPage = {
  /** The sessions of the page: open ones that only the server knows first, then the most recently active. */
  readonly sessions: readonly SessionSummary[];
  /**
   * For the next page; absent on the last one. A session that only the server has and that ends between two pages may be on
   * both.
   */
  readonly after?: string;
};

const PAGE = 50;

type ListedItem = { readonly summary: SessionSummary; readonly cursor: PageCursor };

/**
 * Lists sessions: open ones that only the server has, those of the transcript, the most recently active first, and closed
 * ones that only the server has. The server deletes a session after its retention period; the transcript does not.
 */
export async function listSessions(link: ClientLink, options: ListOptions = {}): Promise<SessionsPage> {
  const { limit = PAGE, after } = options;
  const start: PageCursor = after === undefined ? { part: "open", skip: 0 } : parsePageCursor(after);
  const sessions: SessionSummary[] = [];
  try {
    for await (const { summary, cursor } of listAll(link, options, start)) {
      if (!isWanted(summary, options)) continue;
      sessions.push(summary);
      if (sessions.length === limit) return { sessions, after: formatPageCursor(cursor) };
    }
    return { sessions };
  } catch (error) {
    throw toHoldfastError(error, link, "");
  }
}

async function* listAll(
  link: ClientLink,
  options: ListOptions,
  start: PageCursor,
): AsyncGenerator<ListedItem, void, void> {
  const transcript = await link.storage.openExistingTranscript();
  const isStored = async (id: string) => (await transcript?.readSession(id)) !== undefined;
  const open = await listOpenSessions(link);
  if (start.part === "open") {
    for (const [index, one] of [...open.values()].entries()) {
      if (index < start.skip || (await isStored(one.session))) continue;
      yield { summary: toServerSummary(one), cursor: { part: "open", skip: index + 1 } };
    }
  }
  if (transcript !== undefined && start.part !== "closed") {
    const after = start.part === "transcript" ? start : undefined;
    yield* listStored(link, transcript, options, open, after);
  }
  let index = 0;
  for await (const one of listClosedSessions(link, open, options.agent)) {
    index += 1;
    if ((start.part === "closed" && index <= start.skip) || (await isStored(one.session))) continue;
    yield { summary: toServerSummary(one), cursor: { part: "closed", skip: index } };
  }
}

async function* listStored(
  link: ClientLink,
  transcript: Transcript,
  options: ListOptions,
  open: ReadonlyMap<string, ServerSession>,
  start: Extract<PageCursor, { part: "transcript" }> | undefined,
): AsyncGenerator<ListedItem, void, void> {
  const { limit = PAGE } = options;
  for (let after = start; ; ) {
    const rows = await transcript.archive.list(toSessionFilter(options), { limit, after });
    for (const row of rows) {
      after = { part: "transcript", lastActiveAtMs: row.lastActiveAtMs, id: row.id };
      const run = open.get(row.id);
      const isCutOff = row.status === "running" && run === undefined;
      const record = isCutOff ? await readRefreshedSession(link, transcript, row.id) : row;
      const summary = await toStoredSummary(transcript, { ...row, ...record });
      yield { summary: run === undefined ? summary : addRun(summary, run), cursor: after };
    }
    if (rows.length < limit) return;
  }
}

/** Reads the outcome of a completed session's newest loop: only the loop records a limit, a pause or a handoff. */
async function toStoredSummary(transcript: Transcript, row: ListedSession): Promise<SessionSummary> {
  const newest = row.status === "completed" ? findNewestLoop(await transcript.readLoops(row.id)) : undefined;
  return {
    session: row.id,
    status: row.status === "running" ? "running" : toLoopStatus(row.status, newest?.outcome),
    source: "transcript",
    agent: row.agentName,
    model: row.model,
    createdAt: new Date(row.createdAtMs),
    lastActiveAt: new Date(row.lastActiveAtMs),
    loops: row.loops,
    turns: row.totals.turns,
    costUsd: row.totals.costUsd,
    scope: row.scope ?? "ephemeral",
    ...omitUndefined({
      title: row.title?.text,
      calledBy: row.spawn?.session,
      root: await findRoot(transcript, row),
    }),
  };
}

/** Follows the calling agents up to the first one. */
async function findRoot(transcript: Transcript, { spawn }: ListedSession): Promise<string | undefined> {
  let root = spawn?.session;
  for (let next = root; next !== undefined; ) {
    root = next;
    next = (await transcript.readSession(next))?.spawn?.session;
  }
  return root;
}

/** An open run knows more than its record. */
function addRun(summary: SessionSummary, { status, turns, costUsd, root }: ServerSession): SessionSummary {
  const reported = turns === undefined ? {} : { turns, costUsd };
  return { ...summary, ...reported, ...omitUndefined({ root }), status, source: "server" };
}

function toServerSummary({ startedAt, closedAt, ...run }: ServerSession): SessionSummary {
  const { session, status, costUsd, title, agent, model, turns, calledBy, root } = run;
  return {
    session,
    status,
    source: "server",
    createdAt: startedAt,
    lastActiveAt: closedAt ?? startedAt,
    costUsd,
    ...omitUndefined({ title, agent, model, turns, calledBy, root }),
  };
}

/** The transcript applies most of these itself; the server does not. */
function isWanted(summary: SessionSummary, options: ListOptions): boolean {
  const { agent, model, status, since, until, costOver, children = false } = options;
  const { lastActiveAt, costUsd } = summary;
  if (status !== undefined && summary.status !== status) return false;
  if (summary.loops !== undefined) return true;
  return (
    (agent === undefined || summary.agent === agent) &&
    (model === undefined || summary.model === model) &&
    (since === undefined || lastActiveAt >= since) &&
    (until === undefined || lastActiveAt < until) &&
    (costOver === undefined || (costUsd !== null && costUsd > costOver)) &&
    (children || summary.calledBy === undefined)
  );
}
