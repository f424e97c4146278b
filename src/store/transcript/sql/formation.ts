import type { Formation } from "../../../schema/record.ts";
import type { Spot } from "../fork.ts";
import type { Rotated, SessionFollowing, SessionRotation } from "../formation.ts";
import type { SessionRecord } from "../session.ts";
import { createBranch } from "./branches.ts";
import { mustBeSeen } from "./hidden.ts";
import { sessionOf } from "./records.ts";
import { MAIN } from "./sessions.ts";
import { exec, get, json, type Work } from "./statement.ts";

// Sessions that are there before a loop of theirs is: of the agent of another one, with its definition.

type NewSession = {
  readonly id: string;
  readonly previous: string;
  readonly formation: Formation;
  readonly branch: string;
  readonly rotatedFrom: string | null;
  readonly atMs: number;
};

function* form({ id, previous, formation, branch, rotatedFrom, atMs }: NewSession): Work<void> {
  yield* exec(
    `INSERT INTO sessions (id, agent_id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms,
       head_branch, loops, status, formation, rotated_from)
     SELECT ?, agent_id, agent_name, definition_hash, model, CAST(? AS BIGINT), CAST(? AS BIGINT), ?, 0, 'completed', ?, ?
     FROM sessions WHERE id = ? AND hidden IS NULL`,
    id,
    atMs,
    atMs,
    branch,
    json(formation),
    rotatedFrom,
    previous,
  );
}

export function* formByFork({
  id,
  from,
  branch,
  atMs,
}: {
  readonly id: string;
  readonly from: Spot & { readonly session: string };
  readonly branch: string;
  readonly atMs: number;
}): Work<void> {
  const formation: Formation = { type: "fork", ...from };
  yield* form({ id, previous: from.session, formation, branch, rotatedFrom: null, atMs });
}

export function* followSession({ id, previous, atMs }: SessionFollowing): Work<SessionRecord | undefined> {
  yield* mustBeSeen(id);
  const there = yield* sessionOf(id);
  if (there !== undefined) return there;
  yield* mustBeSeen(previous);
  const formation: Formation = { type: "explicit", previousSession: previous };
  yield* form({ id, previous, formation, branch: MAIN, rotatedFrom: null, atMs });
  const made = yield* sessionOf(id);
  if (made !== undefined) yield* createBranch({ session: id, id: MAIN, position: 0 });
  return made;
}

type Idle = { readonly status: string; readonly lastActiveAtMs: number };
type Current = { readonly session: string; readonly isIdle: boolean };

/** The newest that has followed one for its idleness; those that are being deleted are passed by. */
export function* currentOf({ session, idleMs, atMs }: SessionRotation): Work<Current> {
  let current = session;
  // A session that was brought in may say of itself that it follows one that followed it.
  const met = new Set<string>();
  for (let at = session; !met.has(at); ) {
    met.add(at);
    const successor = yield* get<{ id: string; hidden: string | null }>(
      `SELECT id, hidden FROM sessions WHERE rotated_from = ?
       ORDER BY CASE WHEN hidden IS NULL THEN 0 ELSE 1 END, created_at_ms DESC, id LIMIT 1`,
      at,
    );
    if (successor === undefined) break;
    at = successor.id;
    if (successor.hidden === null) current = at;
  }
  const row = yield* get<Idle>(
    `SELECT status, last_active_at_ms AS "lastActiveAtMs" FROM sessions WHERE id = ? AND hidden IS NULL`,
    current,
  );
  const isIdle = row !== undefined && row.status !== "running" && atMs - row.lastActiveAtMs > idleMs;
  return { session: current, isIdle };
}

export function* rotateSession(rotation: SessionRotation): Work<Rotated> {
  const { idleMs, next, atMs } = rotation;
  const { session: current, isIdle } = yield* currentOf(rotation);
  if (!isIdle) return { session: current, isNew: false };
  const formation: Formation = {
    type: "inactivity_timeout",
    thresholdSecs: idleMs / 1000,
    previousSession: current,
  };
  yield* form({ id: next, previous: current, formation, branch: MAIN, rotatedFrom: current, atMs });
  yield* createBranch({ session: next, id: MAIN, position: 0 });
  return { session: next, isNew: true };
}

/** Words for one that was left for this session, which is to go, find those that followed it. */
export function* passedOver(session: string): Work<void> {
  yield* exec(
    `UPDATE sessions SET rotated_from =
       coalesce((SELECT gone.rotated_from FROM sessions AS gone WHERE gone.id = ?), rotated_from)
     WHERE rotated_from = ?`,
    session,
    session,
  );
}
