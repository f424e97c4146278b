import type { BranchPosition } from "../fork.ts";
import type { NewSnapshot, WorkspaceSnapshot } from "../snapshot.ts";
import { StoreError } from "../store-error.ts";
import { type BranchRow, findBranch, readBranch } from "./branches.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { assertVisible } from "./session-visibility.ts";
import { all, exec, type Work } from "./statement.ts";

export function* saveSnapshot(snapshot: NewSnapshot): Work<void> {
  const { session, at } = snapshot;
  yield* assertVisible(session);
  const branch = yield* findBranch(session, at.branch);
  if (branch === undefined) throw new StoreError("other", `Session ${session} has no branch ${at.branch}.`);
  yield* insertSnapshot(branch.ref, snapshot);
}

function* insertSnapshot(branch: number, snapshot: Omit<NewSnapshot, "session">): Work<void> {
  const { at, atMs, workspace, commit, ref, problem } = snapshot;
  yield* exec(
    `INSERT INTO snapshots (branch, position, at_ms, workspace, commit_id, git_ref, problem)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    branch,
    at.position,
    atMs,
    markForEncryption(workspace, "snapshots.workspace", branch, at.position),
    commit ?? null,
    ref ?? null,
    markForEncryption(problem ?? null, "snapshots.problem", branch, at.position),
  );
}

/** Copies the snapshots of a branch's ancestors to the branch. */
export function* copySnapshots({ session, ref, id, position }: BranchRow): Work<void> {
  for (const visible of yield* readSnapshots(session, { branch: id, position }))
    yield* insertSnapshot(ref, visible);
}

type Row = {
  position: number;
  atMs: number;
  workspace: string;
  commit: string | null;
  ref: string | null;
  problem: string | null;
};

export function* readSnapshots(
  session: string,
  { branch: id, position }: BranchPosition,
): Work<WorkspaceSnapshot[]> {
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
        const getAssociatedData = (column: "snapshots.workspace" | "snapshots.problem") =>
          buildAssociatedData(column, [on, row.position]);
        const workspace = decryptColumn(row, "workspace", getAssociatedData("snapshots.workspace"));
        return toSnapshot(of, {
          ...row,
          workspace,
          problem: decryptColumn(row, "problem", getAssociatedData("snapshots.problem")),
        });
      }),
    );
    until = Math.min(until, branch.position);
    branch = parent === null ? undefined : yield* readBranch(parent);
  }
  return found;
}

function toSnapshot(branch: string, { position, commit, ref, problem, ...row }: Row): WorkspaceSnapshot {
  return {
    ...row,
    at: { branch, position },
    ...(commit === null ? {} : { commit }),
    ...(ref === null ? {} : { ref }),
    ...(problem === null ? {} : { problem }),
  };
}
