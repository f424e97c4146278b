import { readGrants } from "../../../core/permission/grants.ts";
import type { EvaluationLine, InboxLine, LoopLine, SessionLine } from "../../../schema/export-line.ts";
import type { LoopStatus } from "../../../schema/record.ts";
import { type EventStretch, visibleEvents } from "./events.ts";
import { placeOf } from "./private.ts";
import { all, get, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

// What an export reads. What there is of a session is fixed at the beginning, in an order in which nothing that is read
// later can be missing what was read earlier; rows never change, so that the rest may take its time.

export type LoopPlan = {
  readonly ref: number;
  readonly line: LoopLine;
  readonly events: readonly EventStretch[];
};

type SessionRow = {
  id: string;
  agent_name: string;
  definition_hash: string;
  model: string;
  created_at_ms: number;
  last_active_at_ms: number;
  head_branch: string;
  last_loop_id: string | null;
  status: LoopStatus;
  spawn: string | null;
  grants: string | null;
  scope: string | null;
  agent_id: string | null;
  formation: string | null;
};

export function* sessionLine(session: string): Work<SessionLine | undefined> {
  const row = yield* get<SessionRow>("SELECT * FROM sessions WHERE id = ? AND hidden IS NULL", session);
  if (row === undefined) return undefined;
  const spawn = wordsIn(row, "spawn", placeOf("sessions.spawn", [row.id]));
  const grants = wordsIn(row, "grants", placeOf("sessions.grants", [row.id]));
  return {
    type: "session",
    id: row.id,
    agentName: row.agent_name,
    definitionHash: row.definition_hash,
    model: row.model,
    createdAtMs: row.created_at_ms,
    lastActiveAtMs: row.last_active_at_ms,
    headBranch: row.head_branch,
    ...(row.last_loop_id === null ? {} : { lastLoopId: row.last_loop_id }),
    status: row.status,
    ...(spawn === null ? {} : { spawn: JSON.parse(spawn) }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    ...(row.scope === "persistent" ? { scope: "persistent" as const } : {}),
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    ...(row.formation === null ? {} : { formation: JSON.parse(row.formation) }),
  };
}

type LoopRow = {
  ref: number;
  loop_id: string;
  segment: string;
  number: number;
  parent_loop_id: string | null;
  kind: string;
  definition_hash: string;
  model: string;
  branch: string;
  start: number;
  status: LoopStatus;
  started_at_ms: number;
  ended_at_ms: number | null;
  outcome: string | null;
  usage: string | null;
  cost_usd: number | null;
  turns: number | null;
  end_branch: string | null;
  end_position: number | null;
  view: string | null;
  grants: string | null;
  evaluation: string | null;
};

export function* loopLines(
  session: string,
  behind: number,
  limit: number,
): Work<readonly { ref: number; record: LoopPlan }[]> {
  const rows = yield* all<LoopRow>(
    "SELECT * FROM loops WHERE session = ? AND ref > ? ORDER BY ref LIMIT ?",
    session,
    behind,
    limit,
  );
  const plans: { ref: number; record: LoopPlan }[] = [];
  for (const row of rows) {
    const events = yield* visibleEvents(row.ref);
    plans.push({ ref: row.ref, record: { ref: row.ref, line: loopLine(session, row, events), events } });
  }
  return plans;
}

function loopLine(session: string, row: LoopRow, events: readonly EventStretch[]): LoopLine {
  const kind = wordsIn(row, "kind", placeOf("loops.kind", [row.loop_id]));
  const outcome = wordsIn(row, "outcome", placeOf("loops.outcome", [row.loop_id]));
  const view = wordsIn(row, "view", placeOf("loops.view", [row.loop_id]));
  const grants = wordsIn(row, "grants", placeOf("loops.grants", [row.loop_id]));
  const end =
    row.end_branch === null || row.end_position === null
      ? undefined
      : {
          branch: row.end_branch,
          position: row.end_position,
          ...(view === null ? {} : { view: JSON.parse(view) }),
        };
  return {
    type: "loop",
    session,
    loopId: row.loop_id,
    segment: row.segment,
    number: row.number,
    ...(row.parent_loop_id === null ? {} : { parentLoopId: row.parent_loop_id }),
    kind: JSON.parse(kind),
    definitionHash: row.definition_hash,
    model: row.model,
    branch: row.branch,
    from: row.start,
    status: row.status,
    startedAtMs: row.started_at_ms,
    ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
    ...(outcome === null ? {} : { outcome: JSON.parse(outcome) }),
    ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) }),
    ...(row.cost_usd === null && row.status === "running" ? {} : { costUsd: row.cost_usd }),
    ...(row.turns === null ? {} : { turns: row.turns }),
    ...(end === undefined ? {} : { end }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    ...(row.evaluation === null ? {} : { evaluation: row.evaluation }),
    events: events.at(-1)?.to ?? 0,
  };
}

type EvaluationRow = {
  id: string;
  opened: string;
  started_at_ms: number;
  warning: string | null;
  closed: string | null;
  ended_at_ms: number | null;
};

export function* evaluationLines(session: string): Work<readonly EvaluationLine[]> {
  const rows = yield* all<EvaluationRow>(
    "SELECT * FROM evaluations WHERE session = ? ORDER BY started_at_ms, id",
    session,
  );
  return rows.map((row) => {
    const opened = wordsIn(row, "opened", placeOf("evaluations.opened", [row.id]));
    const warning = wordsIn(row, "warning", placeOf("evaluations.warning", [row.id]));
    const closed = wordsIn(row, "closed", placeOf("evaluations.closed", [row.id]));
    return {
      type: "evaluation",
      session,
      id: row.id,
      opened: JSON.parse(opened),
      startedAtMs: row.started_at_ms,
      ...(warning === null ? {} : { warning: JSON.parse(warning) }),
      ...(closed === null ? {} : { closed: JSON.parse(closed) }),
      ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
    };
  });
}

export function* inboxLines(session: string): Work<readonly InboxLine[]> {
  const rows = yield* all<{ id: string; at_ms: number; text: string }>(
    "SELECT id, at_ms, text FROM inbox WHERE session = ? ORDER BY sequence",
    session,
  );
  return rows.map((row) => ({
    type: "inbox",
    session,
    id: row.id,
    atMs: row.at_ms,
    text: JSON.parse(wordsIn(row, "text", placeOf("inbox.text", [session, row.id]))) as string,
  }));
}

export type KeptEntry = {
  readonly position: number;
  readonly run: string;
  readonly origin: string;
  readonly message_id: string | null;
  readonly tokens: number;
  readonly message: string | null;
  readonly content: string | null;
};

export function* keptEntries(
  branch: number,
  from: number,
  to: number,
  limit: number,
): Work<readonly KeptEntry[]> {
  return yield* all<KeptEntry>(
    `SELECT position, run, origin, message_id, tokens, message, content FROM entries
     WHERE branch = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`,
    branch,
    from,
    to,
    limit,
  );
}

export function* runOf(loop: number, ordinal: number): Work<string> {
  const row = yield* get<{ run: string }>(
    "SELECT run FROM loop_runs WHERE loop = ? AND ordinal = ?",
    loop,
    ordinal,
  );
  return row?.run ?? "";
}
