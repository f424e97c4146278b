import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import {
  type BranchPositionInput,
  type ForkRequest,
  type ForkResult,
  GENERATED_PREFIXES,
  type InvalidPosition,
  type RewindOutcome,
  type RewindRequest,
} from "../fork.ts";
import { type BranchRow, createBranch, findBranch, readBranch, readLength } from "./branches.ts";
import { createSessionByFork } from "./create-session.ts";
import { copyInheritedTexts } from "./detach-forks.ts";
import { findLoopBefore } from "./find-loop-before.ts";
import { assertVisible } from "./session-visibility.ts";
import { abortRunningLoops, MAIN_BRANCH } from "./sessions.ts";
import { all, exec, get, type Work } from "./statement.ts";

// Branches that a user requests. Nothing is copied: a branch begins with a row that refers to its position.

const REWIND_PREFIX = GENERATED_PREFIXES[3];

export function* forkBranch(request: ForkRequest): Work<ForkResult> {
  const { session, atMs, into } = request;
  yield* assertVisible(session);
  if (into !== undefined) yield* assertVisible(into);
  const start = yield* resolvePosition(session, request.at);
  if ("type" in start) return start;
  const { branch: parent, position } = start;
  const from = { session, branch: parent.id, position };
  if (into === undefined) {
    const name = request.name ?? (yield* findFreeName(session, "branch-"));
    const existing = yield* findBranch(session, name);
    if (existing !== undefined && !isForkedAt(existing, parent, position))
      return { type: "taken", kind: "branch", name };
    yield* createBranch({ session, id: name, parent, position, requestedAtMs: atMs });
    return { type: "forked", session, branch: name, from };
  }
  const branch = request.name ?? MAIN_BRANCH;
  const existing = yield* get("SELECT 1 AS there FROM sessions WHERE id = ?", into);
  if (existing !== undefined) {
    const first = yield* findBranch(into, branch);
    const isSame = first !== undefined && isForkedAt(first, parent, position);
    return isSame
      ? { type: "forked", session: into, branch, from }
      : { type: "taken", kind: "session", name: into };
  }
  yield* createSessionByFork({ id: into, from, branch, atMs });
  const created = yield* createBranch({ session: into, id: branch, parent, position, requestedAtMs: atMs });
  yield* copyInheritedTexts(created, session);
  return { type: "forked", session: into, branch, from };
}

export function* rewindHead({ session, atMs, to, endedLoopIds }: RewindRequest): Work<RewindOutcome> {
  yield* assertVisible(session);
  const row = yield* get<{ head: string }>("SELECT head_branch AS head FROM sessions WHERE id = ?", session);
  const running = yield* all<{ loopId: string }>(
    `SELECT loop_id AS "loopId" FROM loops WHERE session = ? AND status = 'running' ORDER BY ref`,
    session,
  );
  const loopIds = running.map(({ loopId }) => loopId).filter((id) => !endedLoopIds.includes(id));
  if (loopIds.length > 0) return { type: "running", loopIds };
  const target = yield* resolvePosition(session, to);
  if ("type" in target) return target;
  if (running.length > 0) yield* abortRunningLoops(session, atMs);
  const { branch, position } = target;
  const head = yield* getHeadBranch(branch, position, atMs);
  const previousHead = (yield* findBranch(session, row?.head ?? MAIN_BRANCH))!;
  const before = { branch: previousHead.id, position: yield* readLength(previousHead) };
  const loopId = yield* findLoopBefore(head, position);
  const status = yield* get<{ status: string }>("SELECT status FROM loops WHERE loop_id = ?", loopId ?? "");
  yield* exec(
    "UPDATE sessions SET head_branch = ?, last_loop_id = ?, status = ?, last_active_at_ms = ? WHERE id = ?",
    head.id,
    loopId ?? null,
    status?.status ?? "completed",
    atMs,
    session,
  );
  return {
    type: "rewound",
    head: { branch: head.id, position },
    before,
    ...omitUndefined({ loopId }),
  };
}

/** Returns the branch if the position is its end, or else a branch from there, possibly one that an earlier rewind left. */
function* getHeadBranch(branch: BranchRow, position: number, atMs: number): Work<BranchRow> {
  const { session, ref } = branch;
  const hasLater = yield* get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    ref,
    position,
  );
  const isEnd = position === (yield* readLength(branch)) && hasLater === undefined;
  if (isEnd) return branch;
  const unused = yield* get<{ ref: number }>(
    `SELECT ref FROM branches WHERE parent = ? AND position = ? AND session = ? AND substr(id, 1, ?) = ?
       AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.branch = branches.ref)
       AND NOT EXISTS (SELECT 1 FROM loops WHERE loops.session = branches.session AND loops.branch = branches.id)
     ORDER BY ref LIMIT 1`,
    ref,
    position,
    session,
    REWIND_PREFIX.length,
    REWIND_PREFIX,
  );
  if (unused !== undefined) return yield* readBranch(unused.ref);
  const id = yield* findFreeName(session, REWIND_PREFIX);
  return yield* createBranch({ session, id, parent: branch, position, requestedAtMs: atMs });
}

function* resolvePosition(
  session: string,
  at: BranchPositionInput,
): Work<InvalidPosition | { branch: BranchRow; position: number }> {
  const row = yield* get<{ head: string }>("SELECT head_branch AS head FROM sessions WHERE id = ?", session);
  if (row === undefined) return { type: "no-session" };
  const id = at.branch ?? row.head;
  const branch = yield* findBranch(session, id);
  if (branch === undefined || branch.session !== session) {
    const rows = yield* all<{ id: string }>(
      "SELECT id FROM branches WHERE session = ? ORDER BY ref",
      session,
    );
    return { type: "no-branch", branch: id, branches: rows.map((one) => one.id) };
  }
  const length = yield* readLength(branch);
  const position = at.position ?? length;
  return position > length ? { type: "no-position", branch: id, length } : { branch, position };
}

function isForkedAt({ parent, position }: BranchRow, of: BranchRow, at: number): boolean {
  return parent === of.ref && position === at;
}

function* findFreeName(session: string, prefix: string): Work<string> {
  for (let number = 1; ; number++) {
    const name = `${prefix}${number}`;
    if ((yield* findBranch(session, name)) === undefined) return name;
  }
}
