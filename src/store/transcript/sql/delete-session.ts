import type { DeleteProgress, IdleSnapshot } from "../archive.ts";
import { StoreError } from "../store-error.ts";
import { relinkRotation } from "./create-session.ts";
import { detachForks } from "./detach-forks.ts";
import { deleteIndexed } from "./search-index.ts";
import { DELETING } from "./session-visibility.ts";
import { all, exec, get, type Work } from "./statement.ts";
import { deleteTextOwners, deleteUnreferenced } from "./texts.ts";

// Deletes a session in pages: each blocks the database only briefly, and a repeated request continues.

/** The maximum number of rows of one page. */
const PAGE = 500;

/** Hides the session, unless it has changed since `snapshot`. Its forks get copies of what they show of it. */
export function* beginDelete(session: string, snapshot?: IdleSnapshot): Work<boolean | "continued"> {
  const row = yield* get<{ hidden: string | null; lastActiveAtMs: number }>(
    `SELECT hidden, last_active_at_ms AS "lastActiveAtMs" FROM sessions WHERE id = ?`,
    session,
  );
  if (row === undefined) return false;
  if (row.hidden === null && snapshot !== undefined) {
    const hasContinued =
      row.lastActiveAtMs !== snapshot.lastActiveAtMs || (yield* isRunning(session, snapshot.endedLoopIds));
    if (hasContinued) return "continued";
  }
  yield* detachForks(session);
  yield* relinkRotation(session);
  yield* exec("UPDATE sessions SET hidden = ? WHERE id = ?", DELETING, session);
  return true;
}

function* isRunning(session: string, endedLoopIds: readonly string[]): Work<boolean> {
  const running = yield* all<{ id: string }>(
    "SELECT loop_id AS id FROM loops WHERE session = ? AND status = 'running'",
    session,
  );
  return running.some(({ id }) => !endedLoopIds.includes(id));
}

/** Deletes one page of a hidden session. The session's own row is deleted last. */
export function* deletePage(session: string, atMs: number): Work<DeleteProgress> {
  const row = yield* get<{ hidden: string | null }>("SELECT hidden FROM sessions WHERE id = ?", session);
  if (row === undefined) return { done: true, rows: 0 };
  if (row.hidden === null) throw new StoreError("other", `Session ${session} is not marked for deletion.`);
  for (const stage of [
    deleteEvents,
    deleteLoops,
    deleteEntries,
    deleteBranches,
    deleteSteps,
    deleteSmallTables,
  ]) {
    const rows = yield* stage(session, atMs);
    if (rows > 0) return { done: false, rows };
  }
  yield* exec("DELETE FROM sessions WHERE id = ?", session);
  yield* releaseJobTexts(session, atMs);
  return { done: true, rows: 1 };
}

function* deleteEvents(session: string): Work<number> {
  const first = yield* get<{ loop: number; ordinal: number; sequence: number }>(
    `SELECT events.loop, events.ordinal, events.sequence FROM loops JOIN events ON events.loop = loops.ref
     WHERE loops.session = ? LIMIT 1`,
    session,
  );
  if (first === undefined) return 0;
  const { loop, ordinal, sequence } = first;
  const text = "DELETE FROM events WHERE loop = ? AND ordinal = ? AND sequence >= ? AND sequence < ?";
  yield* exec(text, loop, ordinal, sequence, sequence + PAGE);
  return PAGE;
}

function* deleteLoops(session: string): Work<number> {
  const rows = yield* all<{ ref: number }>("SELECT ref FROM loops WHERE session = ? LIMIT ?", session, PAGE);
  for (const { ref } of rows) {
    yield* exec("DELETE FROM loop_runs WHERE loop = ?", ref);
    yield* exec("DELETE FROM loops WHERE ref = ?", ref);
  }
  return rows.length;
}

function* deleteEntries(session: string, atMs: number): Work<number> {
  const branch = yield* get<{ ref: number; low: number }>(
    `SELECT ref, (SELECT min(position) FROM entries WHERE entries.branch = branches.ref) AS low FROM branches
     WHERE session = ? AND EXISTS (SELECT 1 FROM entries WHERE entries.branch = branches.ref) LIMIT 1`,
    session,
  );
  if (branch === undefined) return 0;
  const end = branch.low + PAGE;
  const named = yield* all<{ content: string }>(
    "SELECT content FROM entries WHERE branch = ? AND position < ? AND content IS NOT NULL",
    branch.ref,
    end,
  );
  yield* deleteIndexed(branch.ref, end);
  yield* exec("DELETE FROM snapshots WHERE branch = ?", branch.ref);
  yield* exec("DELETE FROM entries WHERE branch = ? AND position < ?", branch.ref, end);
  for (const { content } of named) yield* deleteUnreferenced(content, atMs);
  return PAGE;
}

/** Deletes branches, the newest first: a child before its parent. */
function* deleteBranches(session: string): Work<number> {
  const rows = yield* all<{ ref: number }>(
    "SELECT ref FROM branches WHERE session = ? ORDER BY ref DESC LIMIT ?",
    session,
    PAGE,
  );
  for (const { ref } of rows) {
    yield* exec("DELETE FROM snapshots WHERE branch = ?", ref);
    yield* exec("DELETE FROM branches WHERE ref = ?", ref);
  }
  return rows.length;
}

function* deleteSteps(session: string): Work<number> {
  const last = yield* get<{ ref: number }>(
    "SELECT rowid AS ref FROM steps WHERE session = ? ORDER BY rowid LIMIT 1 OFFSET ?",
    session,
    PAGE - 1,
  );
  const any = last ?? (yield* get<{ ref: number }>("SELECT 1 AS ref FROM steps WHERE session = ?", session));
  if (any === undefined) return 0;
  if (last === undefined) yield* exec("DELETE FROM steps WHERE session = ?", session);
  else yield* exec("DELETE FROM steps WHERE session = ? AND rowid <= ?", session, last.ref);
  return PAGE;
}

function* deleteSmallTables(session: string, atMs: number): Work<number> {
  for (const table of ["message_ids", "inbox", "process_runs", "evaluations"]) {
    yield* exec(`DELETE FROM ${table} WHERE session = ?`, session);
  }
  const hashes = yield* deleteTextOwners(session, PAGE);
  for (const hash of hashes) yield* deleteUnreferenced(hash, atMs);
  return hashes.length;
}

/** Releases a job's texts with the last session of its parts, whose ids begin with the job's id. */
function* releaseJobTexts(session: string, atMs: number): Work<void> {
  for (let dot = session.indexOf("."); dot > 0; dot = session.indexOf(".", dot + 1)) {
    const job = session.slice(0, dot);
    const other = yield* get(
      "SELECT 1 AS there FROM sessions WHERE id = ? OR substr(id, 1, ?) = ? LIMIT 1",
      job,
      job.length + 1,
      `${job}.`,
    );
    if (other !== undefined) continue;
    for (;;) {
      const hashes = yield* deleteTextOwners(job, PAGE);
      for (const hash of hashes) yield* deleteUnreferenced(hash, atMs);
      if (hashes.length < PAGE) break;
    }
  }
}
