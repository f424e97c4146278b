import { REVERT_PREFIX } from "../find-left-branches.ts";
import { hashText } from "./hash-text.ts";
import { exec, get, type Work } from "./statement.ts";

/** A row of the table of branches. */
export type BranchRow = {
  readonly ref: number;
  readonly session: string;
  readonly id: string;
  readonly parent: number | null;
  /** The position at which it forks from its parent. */
  readonly position: number;
  readonly run: string | null;
  /** The end of the prefix without gaps, if its ancestors have all entries before `position`. */
  readonly length: number;
  /** The number of tokens of its own entries in that prefix. */
  readonly tokens: number;
};

const COLUMNS = "ref, session, id, parent, position, run, length, tokens";

/** Finds a branch by its id. A branch of another session has the name `{session}/{id}`. */
export function* findBranch(session: string, id: string): Work<BranchRow | undefined> {
  const found = yield* get<BranchRow>(
    `SELECT ${COLUMNS} FROM branches WHERE session = ? AND id = ?`,
    session,
    id,
  );
  const slash = id.lastIndexOf("/");
  return found !== undefined || slash < 0
    ? found
    : yield* findBranch(id.slice(0, slash), id.slice(slash + 1));
}

export function* readBranch(ref: number): Work<BranchRow> {
  return (yield* get<BranchRow>(`SELECT ${COLUMNS} FROM branches WHERE ref = ?`, ref))!;
}

/** Creates a branch without entries of its own. */
export function* createBranch(branch: {
  session: string;
  id: string;
  parent?: BranchRow;
  position: number;
  run?: string;
  requestedAtMs?: number;
}): Work<BranchRow> {
  yield* exec(
    `INSERT INTO branches (session, id, parent, position, run, length, tokens, requested_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
    branch.session,
    branch.id,
    branch.parent?.ref ?? null,
    branch.position,
    branch.run ?? null,
    branch.parent === undefined ? 0 : branch.position,
    branch.requestedAtMs ?? null,
  );
  return (yield* findBranch(branch.session, branch.id))!;
}

/** Formats the id of a run's branch after a conflict. Siblings of one unit have the same base, so they get the same id. */
export function formatConflictBranchId(run: string, parent: string, base: number): string {
  return `fork-${hashText(JSON.stringify([run, parent, base])).slice(0, 16)}`;
}

/** Formats the id of the branch of a loop that begins before the end of another branch. */
export function formatLoopBranchId(run: string, number: number, parent: string, position: number): string {
  return `loop-${hashText(JSON.stringify([run, number, parent, position])).slice(0, 16)}`;
}

/** Formats the id of the branch on which a run continues after a revert that the answer at `by` requested. */
export function formatRevertBranchId(run: string, parent: string, at: number, by: number): string {
  return `${REVERT_PREFIX}${hashText(JSON.stringify([run, parent, at, by])).slice(0, 16)}`;
}

/** Finds the branch to which a conflict moved this run, if it left `branch` at or before `position`. */
export function* findConflictBranch(
  branch: BranchRow,
  run: string,
  position: number,
): Work<BranchRow | undefined> {
  return yield* get<BranchRow>(
    `SELECT ${COLUMNS} FROM branches WHERE parent = ? AND run = ? AND position <= ? ORDER BY position DESC LIMIT 1`,
    branch.ref,
    run,
    position,
  );
}

/** Reads the length that is visible to readers: an ancestor that ends early also ends its descendants. */
export function* readLength(branch: BranchRow): Work<number> {
  if (branch.parent === null) return branch.length;
  const inherited = yield* readLength(yield* readBranch(branch.parent));
  return inherited < branch.position ? inherited : branch.length;
}

/** A range of one branch's own entries; `to` is exclusive. */
export type BranchRange = { readonly branch: number; readonly from: number; readonly to: number };

/** Finds the ranges of `branch` and its ancestors that contain the positions from `from` to `to`, in order. */
export function* findRanges(branch: BranchRow, from: number, to: number): Work<BranchRange[]> {
  const found: BranchRange[] = [];
  let current = branch;
  let end = to;
  while (from < end) {
    const start = Math.max(from, current.parent === null ? 0 : current.position);
    if (start < end) found.unshift({ branch: current.ref, from: start, to: end });
    if (current.parent === null) break;
    end = Math.min(end, current.position);
    current = yield* readBranch(current.parent);
  }
  return found;
}

/** Counts the tokens of all entries before `position`, which must not exceed the branch's length. */
export function* countTokensBefore(branch: BranchRow, position: number): Work<number> {
  if (position === 0) return 0;
  if (branch.parent !== null && position <= branch.position) {
    return yield* countTokensBefore(yield* readBranch(branch.parent), position);
  }
  const own =
    position >= branch.length
      ? branch.tokens
      : ((yield* get<{ tokens_before: number | null }>(
          "SELECT tokens_before FROM entries WHERE branch = ? AND position = ?",
          branch.ref,
          position,
        ))?.tokens_before ?? 0);
  if (branch.parent === null) return own;
  return own + (yield* countTokensBefore(yield* readBranch(branch.parent), branch.position));
}
