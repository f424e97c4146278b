import { NO_USAGE } from "../../../core/budget/usage.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { EditResult, SessionEdit } from "../archive.ts";
import { ORIGINS } from "../entry-origin.ts";
import { StoreError } from "../store-error.ts";
import { type BranchRow, createBranch, findBranch, formatLoopBranchId, readLength } from "./branches.ts";
import { markForEncryption } from "./encrypted-columns.ts";
import { putEntries } from "./entries.ts";
import { findLastNumber } from "./evaluations.ts";
import { addRun, putEvents } from "./events.ts";
import { saveView } from "./loop-views.ts";
import { assertVisible } from "./session-visibility.ts";
import { abortRunningLoops, createSession, MAIN_BRANCH } from "./sessions.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { initialiseTitle } from "./titles.ts";

// External changes of a conversation while no loop runs. Each change is a loop without a model call, so that no message is
// lost, and the record shows who wrote what.

/** The segment of the id of an edit's loop. */
const SEGMENT = "edit";

type SessionRow = {
  readonly head_branch: string;
  readonly last_loop_id: string | null;
  readonly definition_hash: string;
  readonly model: string;
};

const SESSION_QUERY = "SELECT head_branch, last_loop_id, definition_hash, model FROM sessions WHERE id = ?";

/** Edits a session. A repeated request returns the same result. */
export function* editSession(change: SessionEdit): Work<EditResult> {
  const { session, atMs, messages } = change;
  const run = `edit-${change.key}`;
  yield* assertVisible(session);
  const before = yield* findDoneEdit(session, run);
  if (before !== undefined) return before;
  const row = yield* getOrCreateSession(change);
  yield* abortRunningLoops(session, atMs);
  const start = yield* resolveStart(change, run, row.head_branch);
  const from = yield* readLength(start);
  const number = (yield* findLastNumber(session, SEGMENT)) + 1;
  const loopId = `${session}.${SEGMENT}.${number}`;
  const parent = change.create?.parentLoopId ?? row.last_loop_id ?? undefined;
  yield* exec(
    `INSERT INTO loops (loop_id, session, segment, number, parent_loop_id, kind, definition_hash, model, branch, start,
       status, started_at_ms, ended_at_ms, outcome, usage, cost_usd, turns)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'completed', ?, ?, ?, ?, 0, 0)`,
    loopId,
    session,
    SEGMENT,
    number,
    parent ?? null,
    markForEncryption(json(change.kind), "loops.kind", loopId),
    row.definition_hash,
    row.model,
    start.id,
    from,
    atMs,
    atMs,
    markForEncryption(json({ type: "delivered", messages: messages.length }), "loops.outcome", loopId),
    json(NO_USAGE),
  );
  const entries = messages.map((message, index) => ({
    position: from + index,
    origin: ORIGINS[message.role],
    message,
  }));
  yield* putEntries(session, start, run, entries);
  if (change.create !== undefined) yield* initialiseTitle({ ...change.create, step: { session } }, entries);
  yield* writeLoopEvents(change, run, { loopId, parent, from });
  // Without a view, the next loop sees the whole branch.
  if (change.kind.type === "compaction")
    yield* saveView(loopId, { branch: start.id, to: from + messages.length });
  yield* exec(
    `UPDATE sessions SET head_branch = ?, last_loop_id = ?, loops = loops + 1, last_active_at_ms = ?,
       status = 'completed' WHERE id = ?`,
    start.id,
    loopId,
    atMs,
    session,
  );
  if (change.clearInbox === true) yield* exec("DELETE FROM inbox WHERE session = ?", session);
  return { loopId, branch: start.id, length: from + messages.length };
}

function* findDoneEdit(session: string, run: string): Work<EditResult | undefined> {
  const row = yield* get<{ loop_id: string; branch: string; ref: number }>(
    `SELECT loops.loop_id, loops.branch, loops.ref FROM loops JOIN loop_runs ON loop_runs.loop = loops.ref
     WHERE loops.session = ? AND loops.segment = ? AND loop_runs.run = ?`,
    session,
    SEGMENT,
    run,
  );
  if (row === undefined) return undefined;
  const branch = (yield* findBranch(session, row.branch))!;
  return { loopId: row.loop_id, branch: row.branch, length: yield* readLength(branch) };
}

function* getOrCreateSession({ session, after, create, atMs, key }: SessionEdit): Work<SessionRow> {
  const row = yield* get<SessionRow>(SESSION_QUERY, session);
  if (create !== undefined) {
    if (row !== undefined) {
      throw new StoreError("other", `Session ${session} already exists, so it cannot be created.`);
    }
    const step = { session, run: key, number: 0, call: 0, kind: SEGMENT, generation: 1, process: SEGMENT };
    yield* createSession({ ...create, step, atMs });
    return (yield* get<SessionRow>(SESSION_QUERY, session))!;
  }
  if (row === undefined)
    throw new StoreError("other", `Session ${session} does not exist, so it cannot be changed.`);
  if (after !== undefined && row.last_loop_id !== after) {
    const found = `its last loop was ${after} and is now ${row.last_loop_id}`;
    throw new StoreError(
      "other",
      `Session ${session} has changed in the meantime: ${found}. Check the session and retry.`,
    );
  }
  return row;
}

/** Returns the head if no entry follows its end, or else a new branch. */
function* resolveStart({ session, at }: SessionEdit, run: string, head: string): Work<BranchRow> {
  const branch = (yield* findBranch(session, head)) ?? (yield* findBranch(session, MAIN_BRANCH))!;
  const position = at === "empty" ? 0 : yield* readLength(branch);
  const hasLater = yield* get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    branch.ref,
    position,
  );
  const isFree = hasLater === undefined && position === branch.length;
  if (isFree) return branch;
  const id = formatLoopBranchId(run, 0, branch.id, position);
  return yield* createBranch({ session, id, parent: branch, position });
}

/** Writes the start and end events of the loop, as for any loop. */
function* writeLoopEvents(
  { atMs, kind, messages }: SessionEdit,
  run: string,
  {
    loopId,
    parent,
    from,
  }: { readonly loopId: string; readonly parent: string | undefined; readonly from: number },
): Work<void> {
  const { ref } = (yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId))!;
  const writer = yield* addRun(ref, run);
  const outcome = { type: "delivered" as const, messages: messages.length };
  yield* putEvents(ref, writer, [
    {
      sequence: 0,
      atMs,
      body: { type: "AgentStart", kind, ...omitUndefined({ parentLoopId: parent }) },
    },
    {
      sequence: 1,
      atMs,
      body: { type: "AgentEnd", from, to: from + messages.length, usage: NO_USAGE, outcome },
    },
  ]);
}

export function* setScope(session: string, scope: "ephemeral" | "persistent"): Work<void> {
  const row = yield* get("SELECT 1 AS there FROM sessions WHERE id = ? AND hidden IS NULL", session);
  if (row === undefined)
    throw new StoreError("other", `Session ${session} does not exist, so its scope cannot be set.`);
  yield* exec("UPDATE sessions SET scope = ? WHERE id = ?", scope === "persistent" ? scope : null, session);
}
