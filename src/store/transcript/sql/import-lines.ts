import type { BodyLine, EventLine, LoopLine, SessionLine, StepLine } from "../../../schema/export-line.ts";
import { StoreError } from "../store-error.ts";
import { putText } from "./contents.ts";
import { saveImportedDefinition } from "./definitions.ts";
import { markForEncryption } from "./encrypted-columns.ts";
import { addRun, putEvents } from "./events.ts";
import { type ImportedBranches, importBranch, importEntry, storeBranchLengths } from "./import-branches.ts";
import { importInboxLine } from "./inbox.ts";
import { createImportMark, readMark } from "./session-visibility.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { addTextOwner, listReferencedTexts } from "./texts.ts";
import { encodeTitle } from "./titles.ts";

// Imports sessions. Each has the mark of its import until all of its lines are written, and is hidden until then.

/** The process id of imported steps. */
const IMPORTED_PROCESS = "imported";

/** Writes lines in order. Each must belong to a session with this import's mark. */
export function* importLines(token: string, lines: readonly BodyLine[], atMs: number): Work<void> {
  const ownSessions = new Set<string>();
  const branches: ImportedBranches = new Map();
  for (const line of lines) {
    if (line.type === "session") yield* importSession(token, line);
    else if ("session" in line && !ownSessions.has(line.session)) {
      yield* assertOwnSession(token, line.session);
      ownSessions.add(line.session);
    }
    switch (line.type) {
      case "session":
        break;
      case "branch":
        yield* importBranch(line);
        break;
      case "evaluation":
        yield* exec(
          `INSERT INTO evaluations (id, session, opened, started_at_ms, warning, closed, ended_at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          line.id,
          line.session,
          markForEncryption(json(line.opened), "evaluations.opened", line.id),
          line.startedAtMs,
          markForEncryption(
            line.warning === undefined ? null : json(line.warning),
            "evaluations.warning",
            line.id,
          ),
          markForEncryption(
            line.closed === undefined ? null : json(line.closed),
            "evaluations.closed",
            line.id,
          ),
          line.endedAtMs ?? null,
        );
        break;
      case "loop":
        yield* importLoop(line);
        break;
      case "definition":
        yield* saveImportedDefinition(line.definition as never, atMs);
        break;
      case "content":
        yield* putText(line.text, atMs);
        break;
      case "entry":
        yield* importEntry(line, branches);
        break;
      case "event":
        yield* importEvent(token, line);
        break;
      case "step":
        yield* importStep(line);
        break;
      case "inbox":
        yield* importInboxLine(line, atMs);
        break;
    }
  }
  yield* storeBranchLengths(branches);
}

function* assertOwnSession(token: string, id: string): Work<void> {
  if ((yield* readMark(id)) === createImportMark(token)) return;
  throw new StoreError("other", `Another import of session ${id} has replaced this one.`);
}

function* importSession(token: string, line: SessionLine): Work<void> {
  yield* exec(
    `INSERT INTO sessions (id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms, head_branch,
       loops, last_loop_id, status, spawn, spawned_by, grants, scope, agent_id, origin,
       rotated_from, hidden, title)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    line.id,
    line.agentName,
    line.definitionHash,
    line.model,
    line.createdAtMs,
    line.lastActiveAtMs,
    line.headBranch,
    line.lastLoopId ?? null,
    // No run of the loop is open in this store.
    line.status === "running" ? "aborted" : line.status,
    markForEncryption(line.spawn === undefined ? null : json(line.spawn), "sessions.spawn", line.id),
    line.spawn?.session ?? null,
    markForEncryption(line.grants === undefined ? null : json(line.grants), "sessions.grants", line.id),
    line.scope ?? null,
    line.agentId ?? null,
    line.origin === undefined ? null : json(line.origin),
    line.origin?.type === "inactivity_timeout" ? line.origin.previousSession : null,
    createImportMark(token),
    line.title === undefined ? null : encodeTitle(line.id, line.title),
  );
}

/** Throws if the loop exists. A loop's id is unique across all sessions. */
function* assertNewLoop({ loopId, session }: LoopLine): Work<void> {
  const found = yield* get<{ session: string }>("SELECT session FROM loops WHERE loop_id = ?", loopId);
  if (found === undefined) return;
  throw new StoreError(
    "other",
    `Loop ${loopId} of session ${session} already exists, in session ${found.session}: nothing was imported. ` +
      "Delete that session first (`holdfast delete`), or export the session again at its source.",
  );
}

function* importLoop(line: LoopLine): Work<void> {
  yield* assertNewLoop(line);
  const running = line.status === "running";
  const row = yield* get<{ at: number }>(
    "SELECT last_active_at_ms AS at FROM sessions WHERE id = ?",
    line.session,
  );
  yield* exec(
    `INSERT INTO loops (loop_id, session, segment, number, parent_loop_id, kind, definition_hash, model, branch, start,
       status, started_at_ms, ended_at_ms, outcome, usage, cost_usd, turns, end_branch, end_position, view, grants,
       evaluation)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    line.loopId,
    line.session,
    line.segment,
    line.number,
    line.parentLoopId ?? null,
    markForEncryption(json(line.kind), "loops.kind", line.loopId),
    line.definitionHash,
    line.model,
    line.branch,
    line.from,
    running ? "aborted" : line.status,
    line.startedAtMs,
    line.endedAtMs ?? (running ? (row?.at ?? line.startedAtMs) : null),
    markForEncryption(line.outcome === undefined ? null : json(line.outcome), "loops.outcome", line.loopId),
    line.usage === undefined ? null : json(line.usage),
    line.costUsd ?? null,
    line.turns ?? null,
    line.end?.branch ?? null,
    line.end?.position ?? null,
    markForEncryption(line.end?.view === undefined ? null : json(line.end.view), "loops.view", line.loopId),
    markForEncryption(line.grants === undefined ? null : json(line.grants), "loops.grants", line.loopId),
    line.evaluation ?? null,
  );
}

function* importEvent(token: string, { loopId, run, sequence, atMs, body }: EventLine): Work<void> {
  const row = yield* get<{ ref: number; session: string }>(
    "SELECT ref, session FROM loops WHERE loop_id = ?",
    loopId,
  );
  if (row === undefined) throw new StoreError("other", `The transcript has no loop ${loopId}.`);
  yield* assertOwnSession(token, row.session);
  const writer = yield* addRun(row.ref, run);
  yield* putEvents(row.ref, writer, [{ sequence, atMs, body: body as never }]);
  for (const text of listReferencedTexts(body)) yield* addTextOwners(row.session, text);
}

function* importStep(line: StepLine): Work<void> {
  yield* exec(
    `INSERT INTO steps (run, number, call, session, loop_id, kind, generation, executions, process, started_at_ms,
       released, note, branch, stored_at_ms, result)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)`,
    line.run,
    line.number,
    line.call,
    line.session,
    line.loopId ?? null,
    line.kind,
    line.generation,
    line.executions,
    IMPORTED_PROCESS,
    line.startedAtMs,
    markForEncryption(
      line.note === undefined ? null : json(line.note),
      "steps.note",
      line.run,
      line.number,
      line.call,
    ),
    line.branch ?? null,
    line.storedAtMs,
    markForEncryption(json(line.result), "steps.result", line.run, line.number, line.call),
  );
  if (line.kind === "open-loop" && line.note !== undefined) yield* addTextOwners(line.session, line.note);
}

function* addTextOwners(owner: string, hash: string): Work<void> {
  yield* addTextOwner(owner, hash);
  yield* exec("UPDATE contents SET is_referenced = 1 WHERE hash = ? AND is_referenced = 0", hash);
}

/** Removes the marks, which makes the sessions visible. */
export function* finishImport(token: string, sessions: readonly string[], digest: string): Work<void> {
  for (const id of sessions) {
    yield* assertOwnSession(token, id);
    yield* exec(
      `UPDATE sessions SET hidden = NULL, import_digest = ?,
         loops = (SELECT count(*) FROM loops WHERE loops.session = sessions.id) WHERE id = ?`,
      digest,
      id,
    );
  }
}
