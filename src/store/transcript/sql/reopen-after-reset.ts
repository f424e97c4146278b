import type { LoopOpening, OpenedLoop } from "../loop.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData } from "./encrypted-columns.ts";
import { addRun } from "./events.ts";
import { all, exec, get, type Work } from "./statement.ts";

// A run that was reset repeats commands of an earlier run of its chain.

/**
 * Finds the loop that an earlier run opened with this command, if this run was reset to a point before it: the loop is
 * reopened at its start with the same prompts, and its earlier entries stay on their branch.
 */
export function* findOpenedBeforeReset(opening: LoopOpening): Work<OpenedLoop | undefined> {
  const { step, firstRun, prompts } = opening;
  if (firstRun === undefined || firstRun === step.run) return undefined;
  const rows = yield* all<{ run: string; result: string }>(
    `SELECT run, result FROM steps
     WHERE session = ? AND kind = ? AND number = ? AND call = ? AND run <> ? AND stored_at_ms IS NOT NULL
     ORDER BY stored_at_ms DESC`,
    step.session,
    step.kind,
    step.number,
    step.call,
    step.run,
  );
  const knownPrompts = rows.map((row) => {
    const result = decryptColumn(
      row,
      "result",
      buildAssociatedData("steps.result", [row.run, step.number, step.call]),
    );
    return { run: row.run, opened: JSON.parse(result) as OpenedLoop };
  });
  // Numbers continue through a chain: an earlier run has used this number for the same prompts, or not at all.
  const before =
    knownPrompts.find(({ run }) => run === firstRun) ??
    knownPrompts.find(
      ({ opened }) => prompts.length > 0 && prompts.every(({ id }) => includesEntry(opened, id)),
    );
  if (before === undefined) return undefined;
  const { opened } = before;
  const loop = yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", opened.loopId);
  if (loop === undefined) return undefined;
  yield* addRun(loop.ref, step.run);
  yield* continueLoop(step.session, loop.ref, opened.branch);
  return opened;
}

function includesEntry({ entries }: OpenedLoop, id: string): boolean {
  return entries.some(({ messageId }) => messageId === id);
}

/** Reopens a loop that another run continues, and makes it the session's current loop. */
export function* continueLoop(session: string, loop: number, branch: string): Work<void> {
  yield* exec(
    "UPDATE loops SET status = 'running', ended_at_ms = NULL WHERE ref = ? AND status <> 'running'",
    loop,
  );
  yield* exec(
    `UPDATE sessions SET status = 'running', head_branch = ?,
       last_loop_id = (SELECT loops.loop_id FROM loops WHERE loops.ref = ?)
     WHERE id = ? AND EXISTS (SELECT 1 FROM loops WHERE loops.ref = ? AND loops.evaluation IS NULL)`,
    branch,
    loop,
    session,
    loop,
  );
}
