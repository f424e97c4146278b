import { StoreError } from "../store-error.ts";
import type { NewEntry, NewEvent, Place } from "../write.ts";
import { type Branch, createBranch, findBranch, revertBranchId } from "./branches.ts";
import { putEntries } from "./entries.ts";
import { appear, newestOrdinal, putEvents } from "./events.ts";
import { adoptMissing, branchForRun } from "./forks.ts";
import type { Sql } from "./sql.ts";

export type Append = {
  readonly session: string;
  readonly run: string;
  readonly place: Place;
  readonly entries: readonly NewEntry[];
  readonly events: readonly NewEvent[];
};

type LoopRow = { readonly ref: number; readonly branch: string };

/**
 * Writes entries and events of one run where they belong, and gives the branch on which the run goes on.
 *
 * The newest run of the session's newest loop takes the session's head along.
 */
export function append(sql: Sql, write: Append): string {
  const { session, run, place } = write;
  const branch = placed(sql, write);
  const loop = sql.get<LoopRow>("SELECT ref, branch FROM loops WHERE loop_id = ?", place.loopId);
  if (loop === undefined) {
    if (write.events.length > 0) throw missing(`no loop ${place.loopId}, whose events were to be written`);
    return branch;
  }
  const writer = appear(sql, loop.ref, run);
  putEvents(sql, loop.ref, writer, write.events);
  if (loop.branch !== branch && writer.ordinal === newestOrdinal(sql, loop.ref)) {
    sql.run("UPDATE loops SET branch = ? WHERE ref = ?", branch, loop.ref);
    sql.run(
      "UPDATE sessions SET head_branch = ? WHERE id = ? AND last_loop_id = ?",
      branch,
      session,
      place.loopId,
    );
  }
  return branch;
}

function placed(sql: Sql, write: Append): string {
  const { session, run, place, entries } = write;
  const named = findBranch(sql, session, place.branch);
  if (named === undefined) {
    if (entries.length > 0) throw missing(`session ${session} has no branch ${place.branch} to write to`);
    return place.branch;
  }
  const { fork } = place;
  if (fork === undefined) return written(sql, write, named, place.base, entries).id;
  const left = entries.filter((entry) => entry.left === true);
  const parent = left.length === 0 ? named : written(sql, write, named, Number.POSITIVE_INFINITY, left);
  const id = revertBranchId(run, parent.id, fork.at, fork.by);
  const begun = createBranch(sql, { session, id, parent, position: fork.at });
  const own = entries.filter((entry) => entry.left !== true);
  return written(sql, write, begun, place.base, own).id;
}

function written(
  sql: Sql,
  { session, run }: Append,
  start: Branch,
  at: number,
  entries: readonly NewEntry[],
): Branch {
  const base = Math.min(at, ...entries.map((entry) => entry.position));
  const branch = adoptMissing(sql, branchForRun(sql, session, start, run, base, entries), base);
  return putEntries(sql, session, branch, run, entries);
}

function missing(what: string): StoreError {
  return new StoreError("other", `The transcript has ${what}. Open the loop first.`);
}
