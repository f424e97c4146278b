import type { LoopOpening } from "../loop.ts";
import { createBranch } from "./branches.ts";
import { markForEncryption } from "./encrypted-columns.ts";
import { exec, json, type Work } from "./statement.ts";

/** The first branch of a new session. */
export const MAIN_BRANCH = "main";

/** Creates a session and its first branch. */
export function* createSession(
  opening: Pick<
    LoopOpening,
    "step" | "atMs" | "agentName" | "definitionHash" | "model" | "spawn" | "agentId" | "scope"
  >,
): Work<void> {
  yield* exec(
    `INSERT INTO sessions (id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms, head_branch,
       loops, status, spawn, spawned_by, agent_id, scope) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 'running', ?, ?, ?, ?)`,
    opening.step.session,
    opening.agentName,
    opening.definitionHash,
    opening.model,
    opening.atMs,
    opening.atMs,
    MAIN_BRANCH,
    markForEncryption(
      opening.spawn === undefined ? null : json(opening.spawn),
      "sessions.spawn",
      opening.step.session,
    ),
    opening.spawn?.session ?? null,
    opening.agentId ?? null,
    opening.scope ?? null,
  );
  yield* createBranch({ session: opening.step.session, id: MAIN_BRANCH, position: 0 });
}

/** Sets the scope of a session that existed before its first loop, such as a fork: the first loop determines it. */
export function* getInitialScope({ step, scope }: Pick<LoopOpening, "step" | "scope">): Work<void> {
  if (scope === undefined) return;
  yield* exec("UPDATE sessions SET scope = ? WHERE id = ? AND loops = 0", scope, step.session);
}

/** Marks loops as aborted whose run was ended externally. A loop that has ended in the meantime is unchanged. */
export function* abortLoops(session: string, loopIds: readonly string[], atMs: number): Work<void> {
  for (const loopId of loopIds) {
    yield* exec(
      "UPDATE loops SET status = 'aborted', ended_at_ms = ? WHERE session = ? AND loop_id = ? AND status = 'running'",
      atMs,
      session,
      loopId,
    );
  }
  yield* exec(
    `UPDATE sessions SET status = 'aborted' WHERE id = ? AND status = 'running'
       AND NOT EXISTS (SELECT 1 FROM loops WHERE loops.session = sessions.id AND loops.status = 'running')`,
    session,
  );
}

/** Marks loops as aborted that are still running when the next loop opens: they were ended externally. */
export function* abortRunningLoops(session: string, atMs: number): Work<void> {
  yield* exec(
    "UPDATE loops SET status = 'aborted', ended_at_ms = ? WHERE session = ? AND status = 'running'",
    atMs,
    session,
  );
}
