import type { Spot } from "../fork.ts";
import type { NewSnapshot, WorkspaceSnapshot } from "../snapshot.ts";
import { StoreError } from "../store-error.ts";
import { type Branch, branchAt, findBranch } from "./branches.ts";
import { mustBeSeen } from "./hidden.ts";
import { placeOf, secret } from "./private.ts";
import { all, exec, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

export function* keepSnapshot(snapshot: NewSnapshot): Work<void> {
  const { session, at } = snapshot;
  yield* mustBeSeen(session);
  const branch = yield* findBranch(session, at.branch);
  if (branch === undefined) throw new StoreError("other", `Session ${session} has no branch ${at.branch}.`);
  yield* putSnapshot(branch.ref, snapshot);
}

function* putSnapshot(branch: number, snapshot: Omit<NewSnapshot, "session">): Work<void> {
  const { at, atMs, workspace, commit, ref, problem } = snapshot;
  yield* exec(
    `INSERT INTO snapshots (branch, position, at_ms, workspace, commit_id, git_ref, problem)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    branch,
    at.position,
    atMs,
    secret(workspace, "snapshots.workspace", branch, at.position),
    commit ?? null,
    ref ?? null,
    secret(problem ?? null, "snapshots.problem", branch, at.position),
  );
}

/** Those that a branch shows of others, as its own. */
export function* takeSnapshots({ session, ref, id, position }: Branch): Work<void> {
  for (const shown of yield* snapshotsOf(session, { branch: id, position })) yield* putSnapshot(ref, shown);
}

type Row = {
  position: number;
  atMs: number;
  workspace: string;
  commit: string | null;
  ref: string | null;
  problem: string | null;
};

export function* snapshotsOf(session: string, { branch: id, position }: Spot): Work<WorkspaceSnapshot[]> {
  const found: WorkspaceSnapshot[] = [];
  let branch = yield* findBranch(session, id);
  for (let until = position; branch !== undefined; ) {
    const { id: of, ref: on, parent } = branch;
    const rows = yield* all<Row>(
      `SELECT position, at_ms AS "atMs", workspace, commit_id AS "commit", git_ref AS "ref", problem FROM snapshots
       WHERE branch = ? AND position <= ? ORDER BY position DESC`,
      branch.ref,
      until,
    );
    found.push(
      ...rows.map((row) => {
        const place = (column: "snapshots.workspace" | "snapshots.problem") =>
          placeOf(column, [on, row.position]);
        const workspace = wordsIn(row, "workspace", place("snapshots.workspace"));
        return snapshotOf(of, {
          ...row,
          workspace,
          problem: wordsIn(row, "problem", place("snapshots.problem")),
        });
      }),
    );
    until = Math.min(until, branch.position);
    branch = parent === null ? undefined : yield* branchAt(parent);
  }
  return found;
}

function snapshotOf(branch: string, { position, commit, ref, problem, ...row }: Row): WorkspaceSnapshot {
  return {
    ...row,
    at: { branch, position },
    ...(commit === null ? {} : { commit }),
    ...(ref === null ? {} : { ref }),
    ...(problem === null ? {} : { problem }),
  };
}
