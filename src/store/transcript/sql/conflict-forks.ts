import type { NewEntry } from "../store-write.ts";
import {
  type BranchRow,
  createBranch,
  findConflictBranch,
  findRanges,
  formatConflictBranchId,
  readBranch,
} from "./branches.ts";
import { advanceEnd } from "./entries.ts";
import { exec, get, type Work } from "./statement.ts";

// Keeps the entries of a run that was reset apart from those of its predecessor, in both directions.

/**
 * Resolves the branch that this run writes to when it specifies `branch`: the fork to which an earlier conflict moved it,
 * a new fork if another run has written at or after `base`, or else the branch itself.
 *
 * The check covers the whole range after `base`, not only the write's own positions, so that concurrent calls all move
 * together. Earlier entries of the run after `base` are copied, so that a run's entries stay together.
 */
export function* resolveRunBranch(
  session: string,
  start: BranchRow,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): Work<BranchRow> {
  let branch = start;
  if (!(yield* mayHaveConflict(branch, run, base, entries))) return branch;
  for (;;) {
    const fork = yield* findConflictBranch(branch, run, base);
    if (fork !== undefined) branch = fork;
    else if (!(yield* isTakenByOthers(branch, run, base, entries))) return branch;
    else return yield* createFork(session, branch, run, base);
  }
}

/** Checks in one statement what is true of almost every write: no run has forked or written here except this one. */
function* mayHaveConflict(
  branch: BranchRow,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): Work<boolean> {
  if (branch.parent !== null && entries.some(({ position }) => position < branch.position)) return true;
  const found = yield* get(
    `SELECT 1 AS there WHERE EXISTS (SELECT 1 FROM branches WHERE parent = ? AND run = ? AND position <= ?)
       OR EXISTS (SELECT 1 FROM entries WHERE branch = ? AND position >= ? AND run <> ?)`,
    branch.ref,
    run,
    base,
    branch.ref,
    base,
    run,
  );
  return found !== undefined;
}

function* isTakenByOthers(
  branch: BranchRow,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): Work<boolean> {
  const laterRow = yield* get(
    "SELECT 1 AS taken FROM entries WHERE branch = ? AND position >= ? AND run <> ? LIMIT 1",
    branch.ref,
    base,
    run,
  );
  if (laterRow !== undefined) return true;
  for (const { position } of entries) {
    if (branch.parent === null || position >= branch.position) continue;
    if ((yield* readRunAt(branch, position)) !== run) return true;
  }
  return false;
}

/** Reads the run that wrote the entry at this position. */
function* readRunAt(branch: BranchRow, position: number): Work<string | undefined> {
  const [holder] = yield* findRanges(branch, position, position + 1);
  if (holder === undefined) return undefined;
  const entry = yield* get<{ run: string }>(
    "SELECT run FROM entries WHERE branch = ? AND position = ?",
    holder.branch,
    position,
  );
  return entry?.run;
}

/** Creates a branch for the run and copies the entries that it has already written after `base`. */
function* createFork(session: string, parent: BranchRow, run: string, base: number): Work<BranchRow> {
  const id = formatConflictBranchId(run, parent.id, base);
  const fork = yield* createBranch({ session, id, parent, position: base, run });
  yield* exec(
    `${COPY_COLUMNS} WHERE branch = ? AND position >= ? AND run = ?`,
    fork.ref,
    parent.ref,
    base,
    run,
  );
  return yield* advanceEnd(fork);
}

/** Copies entries of another branch without `tokens_before`, which `advanceEnd` computes. */
export const COPY_COLUMNS = `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
  SELECT CAST(? AS BIGINT), position, run, origin, message_id, tokens, NULL, message, content FROM entries`;

/**
 * Closes gaps below `base`, which a run passes only after all entries before it are settled.
 *
 * A reset in the middle of a unit of parallel calls leaves such gaps: completed calls are not repeated, so their
 * results are still in an ancestor, after the position at which the run left it.
 */
export function* adoptMissing(branch: BranchRow, base: number): Work<BranchRow> {
  let current = branch;
  while (current.parent !== null && current.length < base) {
    if (!(yield* adopt(current, current.length))) break;
    current = yield* advanceEnd(current);
  }
  return current;
}

function* adopt(branch: BranchRow, position: number): Work<boolean> {
  for (let ancestor = branch; ancestor.parent !== null; ) {
    ancestor = yield* readBranch(ancestor.parent);
    const existing = yield* get(
      "SELECT 1 AS there FROM entries WHERE branch = ? AND position = ?",
      ancestor.ref,
      position,
    );
    if (existing === undefined) continue;
    yield* exec(`${COPY_COLUMNS} WHERE branch = ? AND position = ?`, branch.ref, ancestor.ref, position);
    return true;
  }
  return false;
}
