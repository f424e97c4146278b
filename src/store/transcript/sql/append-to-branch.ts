import type { NewEntry, NewEvent, WriteTarget } from "../store-write.ts";
import { type BranchRow, createBranch, findBranch, formatRevertBranchId, readLength } from "./branches.ts";
import { adoptMissing, resolveRunBranch } from "./conflict-forks.ts";
import { createBehindError } from "./consistency-errors.ts";
import { putEntries } from "./entries.ts";
import { addRun, type LoopRun, putEvents, readNewestOrdinal } from "./events.ts";
import { continueLoop } from "./reopen-after-reset.ts";
import { exec, get, type Work } from "./statement.ts";

export type AppendRequest = {
  readonly session: string;
  readonly run: string;
  readonly target: WriteTarget;
  readonly entries: readonly NewEntry[];
  readonly events: readonly NewEvent[];
};

/** A loop, and its run if that has written to it. */
type LoopRow = { readonly ref: number; readonly branch: string } & (LoopRun | { readonly run: null });

/**
 * Writes entries and events of one run, and returns the branch on which the run continues.
 *
 * The newest run of the session's newest loop moves the session's head. A run that resumes a loop after a reset makes that
 * loop the newest again.
 */
export function* appendToBranch(write: AppendRequest): Work<string> {
  const { session, run, target } = write;
  const branch = yield* resolveBranch(write);
  const loop = yield* get<LoopRow>(
    `SELECT ref, branch, ordinal, run, first_sequence, end_sequence
     FROM loops LEFT JOIN loop_runs ON loop = ref AND run = ? WHERE loop_id = ?`,
    run,
    target.loopId,
  );
  if (loop === undefined) {
    if (write.events.length > 0)
      throw createBehindError(`it does not contain loop ${target.loopId}, whose events this run writes`);
    return branch;
  }
  const writer: LoopRun = loop.run === null ? yield* addRun(loop.ref, run) : loop;
  if (writer.isNew === true && writer.ordinal > 0) yield* continueLoop(session, loop.ref, loop.branch);
  yield* putEvents(loop.ref, writer, write.events);
  if (loop.branch !== branch && writer.ordinal === (yield* readNewestOrdinal(loop.ref))) {
    yield* exec("UPDATE loops SET branch = ? WHERE ref = ?", branch, loop.ref);
    yield* exec(
      "UPDATE sessions SET head_branch = ? WHERE id = ? AND last_loop_id = ?",
      branch,
      session,
      target.loopId,
    );
  }
  return branch;
}

function* resolveBranch(write: AppendRequest): Work<string> {
  const { session, run, target, entries } = write;
  const namedBranch = yield* findBranch(session, target.branch);
  if (namedBranch === undefined) {
    if (entries.length > 0 || target.base > 0)
      throw createBehindError(`session ${session} has no branch ${target.branch}`);
    return target.branch;
  }
  const { fork } = target;
  if (fork === undefined) return (yield* writeEntries(write, namedBranch, target.base, entries)).id;
  const leftEntries = entries.filter((entry) => entry.isOnParentBranch === true);
  const parent =
    leftEntries.length === 0
      ? namedBranch
      : yield* writeEntries(write, namedBranch, Number.POSITIVE_INFINITY, leftEntries);
  const id = formatRevertBranchId(run, parent.id, fork.at, fork.by);
  const existing = yield* createBranch({ session, id, parent, position: fork.at });
  const own = entries.filter((entry) => entry.isOnParentBranch !== true);
  return (yield* writeEntries(write, existing, target.base, own)).id;
}

function* writeEntries(
  { session, run }: AppendRequest,
  start: BranchRow,
  at: number,
  entries: readonly NewEntry[],
): Work<BranchRow> {
  const base = Math.min(at, ...entries.map((entry) => entry.position));
  const branch = yield* adoptMissing(yield* resolveRunBranch(session, start, run, base, entries), base);
  const length = yield* readLength(branch);
  // A run passes a position only after all entries before it are written.
  if (length < base)
    throw createBehindError(`branch ${branch.id} of session ${session} has ${length} entries of ${base}`);
  return yield* putEntries(session, branch, run, entries);
}
