import type {
  BodyLine,
  BranchLine,
  EntryLine,
  EventLine,
  LoopLine,
  SessionLine,
  StepLine,
} from "../../schema/export-line.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { StoreError } from "../store-error.ts";
import { type Branch, createBranch, findBranch } from "./branches.ts";
import { storedMessage } from "./checksums.ts";
import { putText, textOf } from "./contents.ts";
import { bringDefinition } from "./definitions.ts";
import { appear, putEvents } from "./events.ts";
import { hiddenMark, importing } from "./hidden.ts";
import { putInbox } from "./inbox.ts";
import { secret } from "./private.ts";
import { indexEntry } from "./search-index.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { nameText, textsNamedBy } from "./texts.ts";

// Bringing sessions in. Each has the mark of its import until all lines are there, and is seen by nobody so long.

/** Who wrote what was not written here. */
const ELSEWHERE = "imported";

/** Writes lines in order, each of a session that bears this import's mark. */
export function* importLines(token: string, lines: readonly BodyLine[], atMs: number): Work<void> {
  const ours = new Set<string>();
  const branches = new Map<string, Branch>();
  for (const line of lines) {
    if (line.type === "session") yield* session(token, line);
    else if ("session" in line && !ours.has(line.session)) {
      yield* mustBeOurs(token, line.session);
      ours.add(line.session);
    }
    switch (line.type) {
      case "session":
        break;
      case "branch":
        yield* branch(line);
        break;
      case "evaluation":
        yield* exec(
          `INSERT INTO evaluations (id, session, opened, started_at_ms, warning, closed, ended_at_ms)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          line.id,
          line.session,
          secret(json(line.opened), "evaluations.opened", line.id),
          line.startedAtMs,
          secret(line.warning === undefined ? null : json(line.warning), "evaluations.warning", line.id),
          secret(line.closed === undefined ? null : json(line.closed), "evaluations.closed", line.id),
          line.endedAtMs ?? null,
        );
        break;
      case "loop":
        yield* loop(line);
        break;
      case "definition":
        yield* bringDefinition(line.definition as never, atMs);
        break;
      case "content":
        yield* putText(line.text, atMs);
        break;
      case "entry":
        yield* entry(line, branches);
        break;
      case "event":
        yield* event(token, line);
        break;
      case "step":
        yield* step(line);
        break;
      case "inbox":
        yield* putInbox(line.session, [line]);
        break;
    }
  }
  for (const { ref, length, tokens } of branches.values()) {
    yield* exec("UPDATE branches SET length = ?, tokens = ? WHERE ref = ?", length, tokens, ref);
  }
}

function* mustBeOurs(token: string, id: string): Work<void> {
  if ((yield* hiddenMark(id)) === importing(token)) return;
  throw new StoreError("other", `Another import of session ${id} has taken over from this one.`);
}

function* session(token: string, line: SessionLine): Work<void> {
  yield* exec(
    `INSERT INTO sessions (id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms, head_branch,
       loops, last_loop_id, status, spawn, spawned_by, grants, scope, agent_id, formation,
       rotated_from, hidden)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    line.id,
    line.agentName,
    line.definitionHash,
    line.model,
    line.createdAtMs,
    line.lastActiveAtMs,
    line.headBranch,
    line.lastLoopId ?? null,
    // No run of it is open here.
    line.status === "running" ? "aborted" : line.status,
    secret(line.spawn === undefined ? null : json(line.spawn), "sessions.spawn", line.id),
    line.spawn?.session ?? null,
    secret(line.grants === undefined ? null : json(line.grants), "sessions.grants", line.id),
    line.scope ?? null,
    line.agentId ?? null,
    line.formation === undefined ? null : json(line.formation),
    line.formation?.type === "inactivity_timeout" ? line.formation.previousSession : null,
    importing(token),
  );
}

function* branch(line: BranchLine): Work<void> {
  const { session, id, parent, run, askedAtMs, inheritedView } = line;
  const from = parent === undefined ? undefined : yield* known(session, parent.branch, new Map());
  yield* createBranch({
    session,
    id,
    position: parent?.position ?? line.position ?? 0,
    ...(from === undefined ? {} : { parent: from }),
    ...(run === undefined ? {} : { run }),
    ...(askedAtMs === undefined ? {} : { askedAtMs }),
  });
  if (inheritedView === undefined) return;
  yield* exec(
    "UPDATE branches SET inherited_view = ? WHERE session = ? AND id = ?",
    secret(json(inheritedView), "branches.inherited_view", session, id),
    session,
    id,
  );
}

function* known(session: string, id: string, branches: Map<string, Branch>): Work<Branch> {
  const key = json([session, id]);
  const found = branches.get(key) ?? (yield* findBranch(session, id));
  if (found === undefined) throw new StoreError("other", `Session ${session} has no branch ${id}.`);
  branches.set(key, found);
  return found;
}

/** A loop is known by its id alone, in whatever session it is. */
function* mustBeNew({ loopId, session }: LoopLine): Work<void> {
  const found = yield* get<{ session: string }>("SELECT session FROM loops WHERE loop_id = ?", loopId);
  if (found === undefined) return;
  throw new StoreError(
    "other",
    `Loop ${loopId} of session ${session} is here already, in session ${found.session}: nothing was imported. ` +
      "Delete that session first (`holdfast delete`), or export the file anew from where it came from.",
  );
}

function* loop(line: LoopLine): Work<void> {
  yield* mustBeNew(line);
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
    secret(json(line.kind), "loops.kind", line.loopId),
    line.definitionHash,
    line.model,
    line.branch,
    line.from,
    running ? "aborted" : line.status,
    line.startedAtMs,
    line.endedAtMs ?? (running ? (row?.at ?? line.startedAtMs) : null),
    secret(line.outcome === undefined ? null : json(line.outcome), "loops.outcome", line.loopId),
    line.usage === undefined ? null : json(line.usage),
    line.costUsd ?? null,
    line.turns ?? null,
    line.end?.branch ?? null,
    line.end?.position ?? null,
    secret(line.end?.view === undefined ? null : json(line.end.view), "loops.view", line.loopId),
    secret(line.grants === undefined ? null : json(line.grants), "loops.grants", line.loopId),
    line.evaluation ?? null,
  );
}

function* entry(line: EntryLine, branches: Map<string, Branch>): Work<void> {
  const at = yield* known(line.session, line.branch, branches);
  if (line.position !== at.length) {
    const expected = `expected ${at.length}, found ${line.position}`;
    throw new StoreError("other", `Branch ${line.branch} of session ${line.session} has a gap: ${expected}.`);
  }
  yield* exec(
    `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    at.ref,
    line.position,
    line.run,
    line.origin,
    line.messageId ?? null,
    line.tokens,
    at.tokens,
    line.content === undefined
      ? storedMessage(json(line.message), { ...line, message_id: line.messageId ?? null })
      : null,
    line.content ?? null,
  );
  yield* indexEntry(at.ref, line.position, (yield* messageOf(line)) as AgentMessage);
  if (line.content !== undefined) {
    yield* exec("UPDATE contents SET named = 1 WHERE hash = ? AND named = 0", line.content);
  }
  if (line.messageId !== undefined) {
    yield* exec(
      "INSERT INTO message_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
      line.session,
      line.messageId,
    );
  }
  const next = { ...at, length: at.length + 1, tokens: at.tokens + line.tokens };
  branches.set(json([line.session, line.branch]), next);
}

function* messageOf({ message, content }: EntryLine): Work<unknown> {
  if (content === undefined) return message;
  const text = yield* textOf(content);
  return text === undefined ? undefined : JSON.parse(text);
}

function* event(token: string, { loopId, run, sequence, atMs, body }: EventLine): Work<void> {
  const row = yield* get<{ ref: number; session: string }>(
    "SELECT ref, session FROM loops WHERE loop_id = ?",
    loopId,
  );
  if (row === undefined) throw new StoreError("other", `The transcript has no loop ${loopId}.`);
  yield* mustBeOurs(token, row.session);
  const writer = yield* appear(row.ref, run);
  yield* putEvents(row.ref, writer, [{ sequence, atMs, body: body as never }]);
  for (const text of textsNamedBy(body)) yield* keep(row.session, text);
}

function* step(line: StepLine): Work<void> {
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
    ELSEWHERE,
    line.startedAtMs,
    secret(line.note === undefined ? null : json(line.note), "steps.note", line.run, line.number, line.call),
    line.branch ?? null,
    line.storedAtMs,
    secret(json(line.result), "steps.result", line.run, line.number, line.call),
  );
  if (line.kind === "open-loop" && line.note !== undefined) yield* keep(line.session, line.note);
}

function* keep(owner: string, hash: string): Work<void> {
  yield* nameText(owner, hash);
  yield* exec("UPDATE contents SET named = 1 WHERE hash = ? AND named = 0", hash);
}

/** Takes the marks away: from here on the sessions are there. */
export function* finishImport(token: string, sessions: readonly string[], digest: string): Work<void> {
  for (const id of sessions) {
    yield* mustBeOurs(token, id);
    yield* exec(
      `UPDATE sessions SET hidden = NULL, imported = ?,
         loops = (SELECT count(*) FROM loops WHERE loops.session = sessions.id) WHERE id = ?`,
      digest,
      id,
    );
  }
}
