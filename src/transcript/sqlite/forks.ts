import type { NewEntry } from "../write.ts";
import {
  type Branch,
  branchAt,
  conflictBranch,
  conflictBranchId,
  createBranch,
  stretches,
} from "./branches.ts";
import { advance } from "./entries.ts";
import type { Sql } from "./sql.ts";

// How a run that was reset, or one that was left behind by a reset, keeps off the other's entries.

/**
 * The branch that this run writes to when it names `branch`: the fork that an earlier conflict has sent it to, a
 * new fork when another run has written at `base` or behind it, or else the branch itself.
 *
 * The whole stretch behind `base` counts, not the write's own positions alone, so that calls that run side by
 * side all leave together. One that was there before is copied along: a run's entries are never scattered.
 */
export function branchForRun(
  sql: Sql,
  session: string,
  start: Branch,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): Branch {
  let branch = start;
  for (;;) {
    const fork = conflictBranch(sql, branch, run, base);
    if (fork !== undefined) branch = fork;
    else if (!takenByOthers(sql, branch, run, base, entries)) return branch;
    else return forkFor(sql, session, branch, run, base);
  }
}

function takenByOthers(
  sql: Sql,
  branch: Branch,
  run: string,
  base: number,
  entries: readonly NewEntry[],
): boolean {
  const behind = sql.get(
    "SELECT 1 AS taken FROM entries WHERE branch = ? AND position >= ? AND run <> ? LIMIT 1",
    branch.ref,
    base,
    run,
  );
  if (behind !== undefined) return true;
  return entries.some((entry) => {
    if (branch.parent === null || entry.position >= branch.position) return false;
    return runAt(sql, branch, entry.position) !== run;
  });
}

/** Who wrote the entry that is seen at this position. */
function runAt(sql: Sql, branch: Branch, position: number): string | undefined {
  const holder = stretches(sql, branch, position, position + 1)[0];
  if (holder === undefined) return undefined;
  return sql.get<{ run: string }>(
    "SELECT run FROM entries WHERE branch = ? AND position = ?",
    holder.branch,
    position,
  )?.run;
}

/** A branch of the run's own. What it has written behind `base` already comes along. */
function forkFor(sql: Sql, session: string, parent: Branch, run: string, base: number): Branch {
  const id = conflictBranchId(run, parent.id, base);
  const fork = createBranch(sql, { session, id, parent, position: base, run });
  sql.run(`${COPY} WHERE branch = ? AND position >= ? AND run = ?`, fork.ref, parent.ref, base, run);
  return advance(sql, fork);
}

const COPY = `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
  SELECT ?, position, run, origin, message_id, tokens, NULL, message, content FROM entries`;

/**
 * Closes gaps below `base`, which a run passes only when all before is settled.
 *
 * A reset in the middle of a unit of parallel calls leaves such gaps: the calls that were over are not made
 * again, so their results still lie in an ancestor, behind the place where the run has left it.
 */
export function adoptMissing(sql: Sql, branch: Branch, base: number): Branch {
  let current = branch;
  while (current.parent !== null && current.length < base) {
    if (!adopt(sql, current, current.length)) break;
    current = advance(sql, current);
  }
  return current;
}

function adopt(sql: Sql, branch: Branch, position: number): boolean {
  for (let ancestor = branch; ancestor.parent !== null; ) {
    ancestor = branchAt(sql, ancestor.parent);
    const there = sql.get(
      "SELECT 1 AS there FROM entries WHERE branch = ? AND position = ?",
      ancestor.ref,
      position,
    );
    if (there === undefined) continue;
    sql.run(`${COPY} WHERE branch = ? AND position = ?`, branch.ref, ancestor.ref, position);
    return true;
  }
  return false;
}
