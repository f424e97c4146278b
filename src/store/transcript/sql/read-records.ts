import type { ViewSnapshot } from "../../../core/view/view.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Usage } from "../../../schema/message.ts";
import type { LoopStatus, Outcome, SessionOrigin, SpawnRef } from "../../../schema/record.ts";
import type { LoopRecord } from "../loop.ts";
import type { BranchRecord, SessionRecord } from "../session.ts";
import type { StepRecord } from "../step.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { toParallelGroup } from "./evaluations.ts";
import { all, get, type Value, type Work } from "./statement.ts";
import { toSessionTitle } from "./titles.ts";

export type SessionRow = {
  id: string;
  agent_name: string;
  definition_hash: string;
  model: string;
  created_at_ms: number;
  last_active_at_ms: number;
  head_branch: string;
  last_loop_id: string | null;
  loops: number;
  status: LoopStatus;
  spawn: string | null;
  agent_id: string | null;
  origin: string | null;
  scope: string | null;
  title: string | null;
};

export function* readSession(id: string): Work<SessionRecord | undefined> {
  const row = yield* get<SessionRow>("SELECT * FROM sessions WHERE id = ? AND hidden IS NULL", id);
  return row === undefined ? undefined : toSessionRecord(row);
}

export function* findSessions(filter: {
  limit: number;
  agentName?: string;
  status?: LoopStatus;
  spawnedBy?: string;
}): Work<SessionRecord[]> {
  const conditions: string[] = ["hidden IS NULL"];
  const values: Value[] = [];
  if (filter.agentName !== undefined) {
    conditions.push("agent_name = ?");
    values.push(filter.agentName);
  }
  if (filter.status !== undefined) {
    conditions.push("status = ?");
    values.push(filter.status);
  }
  if (filter.spawnedBy !== undefined) {
    conditions.push("spawned_by = ?");
    values.push(filter.spawnedBy);
  }
  const text = `SELECT * FROM sessions WHERE ${conditions.join(" AND ")} ORDER BY last_active_at_ms DESC, id LIMIT ?`;
  return (yield* all<SessionRow>(text, ...values, filter.limit)).map(toSessionRecord);
}

export function toSessionFields(row: Omit<SessionRow, "loops">) {
  return {
    agentName: row.agent_name,
    definitionHash: row.definition_hash,
    model: row.model,
    createdAtMs: row.created_at_ms,
    lastActiveAtMs: row.last_active_at_ms,
    headBranch: row.head_branch,
    ...(row.last_loop_id === null ? {} : { lastLoopId: row.last_loop_id }),
  };
}

export function toSessionRecord(row: SessionRow): SessionRecord {
  const spawn = decryptColumn(row, "spawn", buildAssociatedData("sessions.spawn", [row.id]));
  return {
    id: row.id,
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    origin: row.origin === null ? { type: "first_loop" } : (JSON.parse(row.origin) as SessionOrigin),
    ...toSessionFields(row),
    loops: row.loops,
    status: row.status,
    ...(spawn === null ? {} : { spawn: JSON.parse(spawn) as SpawnRef }),
    ...(row.scope === "persistent" ? { scope: "persistent" as const } : {}),
    ...omitUndefined({ title: toSessionTitle(row) }),
  };
}

/** The columns of a loop that its record and its line in an export have in common. */
export type LoopRow = {
  ref: number;
  loop_id: string;
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
  evaluation: string | null;
};

type LoopRecordRow = LoopRow & { session: string; closed: string | null };

/** Reads one page in order of start, after the loop with the given `ref`. */
export function* readLoopPage(
  session: string,
  after: number,
  limit: number,
): Work<{ ref: number; record: LoopRecord }[]> {
  const text = `SELECT loops.*, evaluations.closed
    FROM loops JOIN sessions ON sessions.id = loops.session AND sessions.hidden IS NULL
      LEFT JOIN evaluations ON evaluations.id = loops.evaluation
    WHERE loops.session = ? AND ref > ? ORDER BY ref LIMIT ?`;
  const rows = yield* all<LoopRecordRow>(text, session, after, limit);
  return rows.map((row) => ({ ref: row.ref, record: toLoopRecord(row) }));
}

function toLoopRecord(row: LoopRecordRow): LoopRecord {
  const closed = decryptColumn(
    row,
    "closed",
    buildAssociatedData("evaluations.closed", [row.evaluation ?? ""]),
  );
  const parallel = closed === null ? undefined : toParallelGroup(row.loop_id, closed);
  return {
    loopId: row.loop_id,
    session: row.session,
    ...toLoopFields(row),
    ...(row.evaluation === null ? {} : { evaluation: row.evaluation }),
    ...omitUndefined({ parallel }),
  };
}

export function toLoopFields(row: LoopRow) {
  const kind = decryptColumn(row, "kind", buildAssociatedData("loops.kind", [row.loop_id]));
  const outcome = decryptColumn(row, "outcome", buildAssociatedData("loops.outcome", [row.loop_id]));
  return {
    ...(row.parent_loop_id === null ? {} : { parentLoopId: row.parent_loop_id }),
    kind: JSON.parse(kind) as LoopRecord["kind"],
    definitionHash: row.definition_hash,
    model: row.model,
    branch: row.branch,
    from: row.start,
    status: row.status,
    startedAtMs: row.started_at_ms,
    ...(row.ended_at_ms === null ? {} : { endedAtMs: row.ended_at_ms }),
    ...(outcome === null ? {} : { outcome: JSON.parse(outcome) as Outcome }),
    ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) as Usage }),
    ...(row.cost_usd === null && row.status === "running" ? {} : { costUsd: row.cost_usd }),
    ...(row.turns === null ? {} : { turns: row.turns }),
  };
}

export function* readBranches(session: string): Work<BranchRecord[]> {
  const rows = yield* all<BranchRow>(
    `SELECT branches.id, parents.id AS parent, parents.session AS "parentSession", branches.position,
       branches.requested_at_ms AS "requestedAtMs", branches.inherited_view AS "inherited"
     FROM branches LEFT JOIN branches AS parents ON parents.ref = branches.parent
     WHERE branches.session = ? ORDER BY branches.ref`,
    session,
  );
  return rows
    .filter(({ id }) => !id.includes("/"))
    .map((row) => ({
      ...row,
      inherited: decryptColumn(
        row,
        "inherited",
        buildAssociatedData("branches.inherited_view", [session, row.id]),
      ),
    }))
    .map(({ id, parent, parentSession, position, requestedAtMs, inherited }) => ({
      id,
      ...(parent === null || parentSession === null
        ? {}
        : parentSession === session
          ? { parent: { branch: parent, position } }
          : { from: { session: parentSession, branch: parent, position } }),
      ...(requestedAtMs === null ? {} : { requestedAtMs }),
      ...(inherited === null
        ? {}
        : { inheritedView: { position, view: JSON.parse(inherited) as ViewSnapshot } }),
    }));
}

type BranchRow = {
  id: string;
  parent: string | null;
  parentSession: string | null;
  position: number;
  requestedAtMs: number | null;
  inherited: string | null;
};

type StepRow = {
  ref: number;
  run: string;
  number: number;
  call: number;
  session: string;
  loop_id: string | null;
  kind: string;
  generation: number;
  executions: number;
  process: string;
  started_at_ms: number;
  stored_at_ms: number | null;
  group_pgid: number | null;
  group_start: string | null;
};

/** Reads one page in order of the first claim, after the step with the given `ref`. */
export function* readStepPage(
  session: string,
  after: number,
  limit: number,
): Work<{ ref: number; record: StepRecord }[]> {
  const rows = yield* all<StepRow>(
    `SELECT rowid AS ref, run, number, call, session, loop_id, kind, generation, executions, process, started_at_ms,
       stored_at_ms, group_pgid, group_start
     FROM steps WHERE session = ? AND rowid > ? ORDER BY rowid LIMIT ?`,
    session,
    after,
    limit,
  );
  return rows.map((row) => ({ ref: row.ref, record: toStepRecord(row) }));
}

function toStepRecord(row: StepRow): StepRecord {
  return {
    run: row.run,
    number: row.number,
    call: row.call,
    session: row.session,
    ...(row.loop_id === null || row.loop_id === "" ? {} : { loopId: row.loop_id }),
    kind: row.kind,
    generation: row.generation,
    executions: row.executions,
    process: row.process,
    startedAtMs: row.started_at_ms,
    ...(row.stored_at_ms === null ? {} : { storedAtMs: row.stored_at_ms }),
    ...(row.group_pgid === null ? {} : { group: { pgid: row.group_pgid, startTime: row.group_start! } }),
  };
}
