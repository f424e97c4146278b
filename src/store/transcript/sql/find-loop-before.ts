import { type BranchRow, findRanges } from "./branches.ts";
import { get, type Work } from "./statement.ts";

/** Finds the loop of the branch's session that wrote the entry before a position. */
export function* findLoopBefore(branch: BranchRow, position: number): Work<string | undefined> {
  if (position === 0) return undefined;
  const [holder] = yield* findRanges(branch, position - 1, position);
  if (holder === undefined) return undefined;
  const entry = yield* get<{ run: string }>(
    "SELECT run FROM entries WHERE branch = ? AND position = ?",
    holder.branch,
    position - 1,
  );
  if (entry === undefined) return undefined;
  const loop = yield* get<{ loopId: string }>(
    `SELECT loops.loop_id AS "loopId" FROM loops JOIN loop_runs ON loop_runs.loop = loops.ref
     WHERE loops.session = ? AND loop_runs.run = ? AND loops.start < ?
     ORDER BY loops.start DESC, loops.ref DESC LIMIT 1`,
    branch.session,
    entry.run,
    position,
  );
  return loop?.loopId;
}
