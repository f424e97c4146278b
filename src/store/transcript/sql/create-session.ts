import type { SessionOrigin } from "../../../schema/record.ts";
import type { BranchPosition } from "../fork.ts";
import type { SessionRecord } from "../session.ts";
import type { FollowSessionRequest, RotateSessionRequest, RotateSessionResult } from "../session-requests.ts";
import { createBranch } from "./branches.ts";
import { readSession } from "./read-records.ts";
import { assertVisible } from "./session-visibility.ts";
import { MAIN_BRANCH } from "./sessions.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { copyTitle } from "./titles.ts";

// Sessions that exist before their first loop: they have the agent and the definition of another session.

type NewSession = {
  readonly id: string;
  readonly previous: string;
  readonly origin: SessionOrigin;
  readonly branch: string;
  readonly rotatedFrom: string | null;
  readonly atMs: number;
};

function* createFollowingSession({
  id,
  previous,
  origin,
  branch,
  rotatedFrom,
  atMs,
}: NewSession): Work<void> {
  yield* exec(
    `INSERT INTO sessions (id, agent_id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms,
       head_branch, loops, status, origin, rotated_from)
     SELECT ?, agent_id, agent_name, definition_hash, model, CAST(? AS BIGINT), CAST(? AS BIGINT), ?, 0, 'completed', ?, ?
     FROM sessions WHERE id = ? AND hidden IS NULL`,
    id,
    atMs,
    atMs,
    branch,
    json(origin),
    rotatedFrom,
    previous,
  );
}

export function* createSessionByFork({
  id,
  from,
  branch,
  atMs,
}: {
  readonly id: string;
  readonly from: BranchPosition & { readonly session: string };
  readonly branch: string;
  readonly atMs: number;
}): Work<void> {
  const origin: SessionOrigin = { type: "fork", ...from };
  yield* createFollowingSession({
    id,
    previous: from.session,
    origin,
    branch,
    rotatedFrom: null,
    atMs,
  });
  yield* copyTitle(from.session, id);
}

export function* followSession({
  id,
  previous,
  atMs,
}: FollowSessionRequest): Work<SessionRecord | undefined> {
  yield* assertVisible(id);
  const existing = yield* readSession(id);
  if (existing !== undefined) return existing;
  yield* assertVisible(previous);
  const origin: SessionOrigin = { type: "explicit", previousSession: previous };
  yield* createFollowingSession({
    id,
    previous,
    origin,
    branch: MAIN_BRANCH,
    rotatedFrom: null,
    atMs,
  });
  const created = yield* readSession(id);
  if (created !== undefined) yield* createBranch({ session: id, id: MAIN_BRANCH, position: 0 });
  return created;
}

type ActivityRow = { readonly status: string; readonly lastActiveAtMs: number };
type CurrentSession = { readonly session: string; readonly isIdle: boolean };

/** Finds the newest session that followed this one after it became idle. Sessions that are being deleted are skipped. */
export function* findCurrentSession({ session, idleMs, atMs }: RotateSessionRequest): Work<CurrentSession> {
  let current = session;
  // An imported session can claim to follow a session that followed it.
  const visited = new Set<string>();
  for (let at = session; !visited.has(at); ) {
    visited.add(at);
    const successor = yield* get<{ id: string; hidden: string | null }>(
      `SELECT id, hidden FROM sessions WHERE rotated_from = ?
       ORDER BY CASE WHEN hidden IS NULL THEN 0 ELSE 1 END, created_at_ms DESC, id LIMIT 1`,
      at,
    );
    if (successor === undefined) break;
    at = successor.id;
    if (successor.hidden === null) current = at;
  }
  const row = yield* get<ActivityRow>(
    `SELECT status, last_active_at_ms AS "lastActiveAtMs" FROM sessions WHERE id = ? AND hidden IS NULL`,
    current,
  );
  const isIdle = row !== undefined && row.status !== "running" && atMs - row.lastActiveAtMs > idleMs;
  return { session: current, isIdle };
}

export function* rotateSession(rotation: RotateSessionRequest): Work<RotateSessionResult> {
  const { idleMs, nextId, atMs } = rotation;
  const { session: current, isIdle } = yield* findCurrentSession(rotation);
  if (!isIdle) return { session: current, isNew: false };
  const origin: SessionOrigin = {
    type: "inactivity_timeout",
    thresholdSecs: idleMs / 1000,
    previousSession: current,
  };
  yield* createFollowingSession({
    id: nextId,
    previous: current,
    origin,
    branch: MAIN_BRANCH,
    rotatedFrom: current,
    atMs,
  });
  yield* createBranch({ session: nextId, id: MAIN_BRANCH, position: 0 });
  return { session: nextId, isNew: true };
}

/** Relinks the predecessor of a deleted session to the sessions that followed it. */
export function* relinkRotation(session: string): Work<void> {
  yield* exec(
    `UPDATE sessions SET rotated_from =
       coalesce((SELECT gone.rotated_from FROM sessions AS gone WHERE gone.id = ?), rotated_from)
     WHERE rotated_from = ?`,
    session,
    session,
  );
}
