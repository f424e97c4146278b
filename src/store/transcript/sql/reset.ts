import type { LoopOpened, LoopOpening } from "../loop.ts";
import { appear } from "./events.ts";
import { placeOf } from "./private.ts";
import { all, exec, get, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

// A run that was reset, and does again what an earlier run of its chain has done.

/**
 * What an earlier run has opened under this command, when this run was reset to a place before it: the loop is taken up
 * again where it had begun, with the same prompts, and what came of it then stays on its branch.
 */
export function* openedBeforeReset(opening: LoopOpening): Work<LoopOpened | undefined> {
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
  const known = rows.map((row) => {
    const result = wordsIn(row, "result", placeOf("steps.result", [row.run, step.number, step.call]));
    return { run: row.run, opened: JSON.parse(result) as LoopOpened };
  });
  // Numbers go on through a chain: another run than its first has used this one for the same words, or not at all.
  const before =
    known.find(({ run }) => run === firstRun) ??
    known.find(({ opened }) => prompts.length > 0 && prompts.every(({ id }) => holds(opened, id)));
  if (before === undefined) return undefined;
  const { opened } = before;
  const loop = yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", opened.loopId);
  if (loop === undefined) return undefined;
  yield* appear(loop.ref, step.run);
  yield* takeUp(step.session, loop.ref, opened.branch);
  return opened;
}

function holds({ entries }: LoopOpened, id: string): boolean {
  return entries.some(({ messageId }) => messageId === id);
}

/** Another run than before goes on with a loop: it is open, and what the session is about. */
export function* takeUp(session: string, loop: number, branch: string): Work<void> {
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
