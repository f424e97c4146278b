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

// How a run that was reset, or one that was left behind by a reset, keeps off the other's entries.

/**
 * The branch that this run writes to when it names `branch`: the fork that an earlier conflict has sent it to, a
 * new fork when another run has written at `base` or behind it, or else the branch itself.
 *
 * The whole stretch behind `base` counts, not the write's own positions alone, so that calls that run side by
 * side all leave together. One that was there before is copied along: a run's entries are never scattered.
 */
export function* resolveRunBranch(
  session: string,
  start: BranchRow,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): Work<BranchRow> {
  let branch = start;
  for (;;) {
    const fork = yield* findConflictBranch(branch, run, base);
    if (fork !== undefined) branch = fork;
    else if (!(yield* isTakenByOthers(branch, run, base, entries))) return branch;
    else return yield* createFork(session, branch, run, base);
  }
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

/** Who wrote the entry that is seen at this position. */
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

/** A branch of the run's own. What it has written behind `base` already comes along. */
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

/** Entries of another branch, without their tokens before: `advance` counts these. */
export const COPY_COLUMNS = `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
  SELECT CAST(? AS BIGINT), position, run, origin, message_id, tokens, NULL, message, content FROM entries`;

/**
 * Closes gaps below `base`, which a run passes only when all before is settled.
 *
 * A reset in the middle of a unit of parallel calls leaves such gaps: the calls that were over are not made
 * again, so their results still lie in an ancestor, behind the place where the run has left it.
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
