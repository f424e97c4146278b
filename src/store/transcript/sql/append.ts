import type { NewEntry, NewEvent, Place } from "../write.ts";
import { type Branch, createBranch, findBranch, lengthOf, revertBranchId } from "./branches.ts";
import { putEntries } from "./entries.ts";
import { appear, newestOrdinal, putEvents } from "./events.ts";
import { adoptMissing, branchForRun } from "./forks.ts";
import { behind } from "./out-of-step.ts";
import { takeUp } from "./reset.ts";
import { exec, get, type Work } from "./statement.ts";

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
 * The newest run of the session's newest loop takes the session's head along; one that takes a loop up after a reset
 * makes that one the newest again.
 */
export function* append(write: Append): Work<string> {
  const { session, run, place } = write;
  const branch = yield* placed(write);
  const loop = yield* get<LoopRow>("SELECT ref, branch FROM loops WHERE loop_id = ?", place.loopId);
  if (loop === undefined) {
    if (write.events.length > 0)
      throw behind(`it has no loop ${place.loopId}, whose events are to be written`);
    return branch;
  }
  const writer = yield* appear(loop.ref, run);
  if (writer.isNew === true && writer.ordinal > 0) yield* takeUp(session, loop.ref, loop.branch);
  yield* putEvents(loop.ref, writer, write.events);
  if (loop.branch !== branch && writer.ordinal === (yield* newestOrdinal(loop.ref))) {
    yield* exec("UPDATE loops SET branch = ? WHERE ref = ?", branch, loop.ref);
    yield* exec(
      "UPDATE sessions SET head_branch = ? WHERE id = ? AND last_loop_id = ?",
      branch,
      session,
      place.loopId,
    );
  }
  return branch;
}

function* placed(write: Append): Work<string> {
  const { session, run, place, entries } = write;
  const named = yield* findBranch(session, place.branch);
  if (named === undefined) {
    if (entries.length > 0 || place.base > 0)
      throw behind(`session ${session} has no branch ${place.branch}`);
    return place.branch;
  }
  const { fork } = place;
  if (fork === undefined) return (yield* written(write, named, place.base, entries)).id;
  const left = entries.filter((entry) => entry.left === true);
  const parent = left.length === 0 ? named : yield* written(write, named, Number.POSITIVE_INFINITY, left);
  const id = revertBranchId(run, parent.id, fork.at, fork.by);
  const begun = yield* createBranch({ session, id, parent, position: fork.at });
  const own = entries.filter((entry) => entry.left !== true);
  return (yield* written(write, begun, place.base, own)).id;
}

function* written(
  { session, run }: Append,
  start: Branch,
  at: number,
  entries: readonly NewEntry[],
): Work<Branch> {
  const base = Math.min(at, ...entries.map((entry) => entry.position));
  const branch = yield* adoptMissing(yield* branchForRun(session, start, run, base, entries), base);
  const length = yield* lengthOf(branch);
  // A run passes a position only when all before it is there.
  if (length < base)
    throw behind(`branch ${branch.id} of session ${session} has ${length} entries of ${base}`);
  return yield* putEntries(session, branch, run, entries);
}
