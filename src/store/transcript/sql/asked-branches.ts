import {
  type ForkAsked,
  type Forked,
  type NoSpot,
  OWN_PREFIXES,
  type RewindAsked,
  type Rewound,
  type SpotAsked,
} from "../fork.ts";
import { keepHeld } from "./bequeath.ts";
import { type Branch, branchAt, createBranch, findBranch, lengthOf } from "./branches.ts";
import { formByFork } from "./formation.ts";
import { mustBeSeen } from "./hidden.ts";
import { loopBefore } from "./loop-before.ts";
import { abortRunning, MAIN } from "./sessions.ts";
import { all, exec, get, type Work } from "./statement.ts";

// Branches that somebody has asked for. Nothing is copied: a branch begins with a row that says where.

const BACK = OWN_PREFIXES[3];

export function* fork(asked: ForkAsked): Work<Forked> {
  const { session, atMs, into } = asked;
  yield* mustBeSeen(session);
  if (into !== undefined) yield* mustBeSeen(into);
  const spot = yield* spotOf(session, asked.at);
  if ("type" in spot) return spot;
  const { branch: parent, position } = spot;
  const from = { session, branch: parent.id, position };
  if (into === undefined) {
    const name = asked.name ?? (yield* freeName(session, "branch-"));
    const there = yield* findBranch(session, name);
    if (there !== undefined && !begins(there, parent, position))
      return { type: "taken", what: "branch", name };
    yield* createBranch({ session, id: name, parent, position, askedAtMs: atMs });
    return { type: "forked", session, branch: name, from };
  }
  const branch = asked.name ?? MAIN;
  const there = yield* get("SELECT 1 AS there FROM sessions WHERE id = ?", into);
  if (there !== undefined) {
    const first = yield* findBranch(into, branch);
    const isSame = first !== undefined && begins(first, parent, position);
    return isSame
      ? { type: "forked", session: into, branch, from }
      : { type: "taken", what: "session", name: into };
  }
  yield* formByFork({ id: into, from, branch, atMs });
  const begun = yield* createBranch({ session: into, id: branch, parent, position, askedAtMs: atMs });
  yield* keepHeld(begun, session);
  return { type: "forked", session: into, branch, from };
}

export function* rewind({ session, atMs, to, over }: RewindAsked): Work<Rewound> {
  yield* mustBeSeen(session);
  const row = yield* get<{ head: string }>("SELECT head_branch AS head FROM sessions WHERE id = ?", session);
  const running = yield* all<{ loopId: string }>(
    `SELECT loop_id AS "loopId" FROM loops WHERE session = ? AND status = 'running' ORDER BY ref`,
    session,
  );
  const loopIds = running.map(({ loopId }) => loopId).filter((id) => !over.includes(id));
  if (loopIds.length > 0) return { type: "running", loopIds };
  const spot = yield* spotOf(session, to);
  if ("type" in spot) return spot;
  if (running.length > 0) yield* abortRunning(session, atMs);
  const { branch, position } = spot;
  const head = yield* headAt(branch, position, atMs);
  const left = (yield* findBranch(session, row?.head ?? MAIN))!;
  const before = { branch: left.id, position: yield* lengthOf(left) };
  const loopId = yield* loopBefore(head, position);
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
    ...(loopId === undefined ? {} : { loopId }),
  };
}

/** The branch itself at its end; else one that begins there, which an earlier rewind may have left unused. */
function* headAt(branch: Branch, position: number, atMs: number): Work<Branch> {
  const { session, ref } = branch;
  const behind = yield* get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    ref,
    position,
  );
  const isEnd = position === (yield* lengthOf(branch)) && behind === undefined;
  if (isEnd) return branch;
  const unused = yield* get<{ ref: number }>(
    `SELECT ref FROM branches WHERE parent = ? AND position = ? AND session = ? AND substr(id, 1, ?) = ?
       AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.branch = branches.ref)
       AND NOT EXISTS (SELECT 1 FROM loops WHERE loops.session = branches.session AND loops.branch = branches.id)
     ORDER BY ref LIMIT 1`,
    ref,
    position,
    session,
    BACK.length,
    BACK,
  );
  if (unused !== undefined) return yield* branchAt(unused.ref);
  const id = yield* freeName(session, BACK);
  return yield* createBranch({ session, id, parent: branch, position, askedAtMs: atMs });
}

function* spotOf(session: string, at: SpotAsked): Work<NoSpot | { branch: Branch; position: number }> {
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
  const length = yield* lengthOf(branch);
  const position = at.position ?? length;
  return position > length ? { type: "no-position", branch: id, length } : { branch, position };
}

function begins({ parent, position }: Branch, of: Branch, at: number): boolean {
  return parent === of.ref && position === at;
}

function* freeName(session: string, prefix: string): Work<string> {
  for (let number = 1; ; number++) {
    const name = `${prefix}${number}`;
    if ((yield* findBranch(session, name)) === undefined) return name;
  }
}
