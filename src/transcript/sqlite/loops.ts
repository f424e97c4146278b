import { estimateMessage } from "../../core/estimate.ts";
import { refusedMessage } from "../../core/refused.ts";
import type { UserMessage } from "../../schema/message.ts";
import type { EntryOrigin } from "../../schema/record.ts";
import type { LoopClosing, LoopOpened, LoopOpening } from "../loop.ts";
import type { NewMessage } from "../session.ts";
import { StoreError } from "../store-error.ts";
import type { NewEntry, Stored } from "../write.ts";
import { type Branch, createBranch, findBranch, lengthOf, loopBranchId, tokensBefore } from "./branches.ts";
import { putContent } from "./contents.ts";
import { putEntries } from "./entries.ts";
import { lastNumber } from "./evaluations.ts";
import { appear, newestOrdinal } from "./events.ts";
import { inboxOf, isEntered, takeFromInbox } from "./inbox.ts";
import { keepView, viewBefore } from "./loop-views.ts";
import { abortRunning, createSession, MAIN } from "./sessions.ts";
import { json, type Sql } from "./sql.ts";
import { resultOf, setNote, store, takeAndFinish } from "./steps.ts";

type SessionRow = {
  readonly head_branch: string;
  readonly last_loop_id: string | null;
  readonly grants: string | null;
};

/** Opens a loop; the step's stored answer makes a second asking give the same. */
export function openLoop(sql: Sql, opening: LoopOpening): LoopOpened {
  const { step, atMs } = opening;
  const before = resultOf(sql, step);
  if (before !== undefined) return before.result as LoopOpened;

  const session = sql.get<SessionRow>(
    "SELECT head_branch, last_loop_id, grants FROM sessions WHERE id = ?",
    step.session,
  );
  const { part } = opening;
  if (session === undefined) createSession(sql, opening);
  else if (part === undefined) abortRunning(sql, step.session, atMs);

  const { branch, from } = start(sql, opening, session?.head_branch ?? MAIN);
  const parentLoopId = parentOf(opening, session);
  const loopId = createLoop(sql, opening, branch, from, parentLoopId);

  const isSpokenTo = opening.kind.type !== "compaction" && part === undefined;
  const words = isSpokenTo ? (opening.inbox ?? inboxOf(sql, step.session)) : [];
  const { rejected, refused = [] } = opening;
  const entries =
    rejected === undefined
      ? openingEntries(sql, opening, words, loopId, from)
      : refusedEntries(sql, opening, rejected, from);
  putEntries(sql, step.session, branch, step.run, entries);
  takeFromInbox(sql, step.session, rejected === undefined ? words : refused);
  noteInSession(sql, opening, branch, loopId);
  const view = viewBefore(sql, step.session, branch, from);
  const opened: LoopOpened = {
    loopId,
    ...(parentLoopId === undefined ? {} : { parentLoopId }),
    kind: opening.kind,
    branch: branch.id,
    from,
    tokensBefore: tokensBefore(sql, branch, from),
    ...(view === undefined ? {} : { view }),
    ...(session === undefined || session.grants === null ? {} : { grants: JSON.parse(session.grants) }),
    entries: entries.map((entry) => ({
      origin: entry.origin,
      messageId: entry.messageId!,
      tokens: estimateMessage(entry.message),
      ...(rejected === undefined ? {} : { refused: true as const }),
    })),
    ...(rejected === undefined ? {} : { rejected }),
    ...(opening.rejectedBy === undefined ? {} : { rejectedBy: opening.rejectedBy }),
  };
  takeAndFinish(sql, step, opened, opened, atMs);
  // As it is, not sorted: a request is made again byte for byte.
  if (opening.terms !== undefined) setNote(sql, step, putContent(sql, JSON.stringify(opening.terms)));
  return opened;
}

function parentOf(opening: LoopOpening, session: SessionRow | undefined): string | undefined {
  if (opening.part !== undefined) return opening.part.parentLoopId;
  return session === undefined ? opening.spawn?.loopId : (session.last_loop_id ?? undefined);
}

/** The newest loop is the session's face, unless it is one of several: then the session waits for the choice. */
function noteInSession(sql: Sql, opening: LoopOpening, branch: Branch, loopId: string): void {
  const { session } = opening.step;
  if (opening.part !== undefined) {
    sql.run(
      "UPDATE sessions SET loops = loops + 1, last_active_at_ms = ? WHERE id = ?",
      opening.atMs,
      session,
    );
    return;
  }
  sql.run(
    `UPDATE sessions SET agent_name = ?, definition_hash = ?, model = ?, last_active_at_ms = ?, head_branch = ?,
       loops = loops + 1, last_loop_id = ?, status = 'running' WHERE id = ?`,
    opening.agentName,
    opening.definitionHash,
    opening.model,
    opening.atMs,
    branch.id,
    loopId,
    session,
  );
}

/**
 * Where the loop begins. Before the end of a branch, or where others have written on, it gets one of its own; one of
 * several always does.
 */
function start(sql: Sql, opening: LoopOpening, head: string): { branch: Branch; from: number } {
  const { step, part } = opening;
  const place = part?.at ?? opening.at;
  const id = place?.branch ?? head;
  const branch = findBranch(sql, step.session, id);
  if (branch === undefined) throw new StoreError("other", `Session ${step.session} has no branch ${id}.`);
  const length = lengthOf(sql, branch);
  const from = place?.position ?? length;
  if (from > length) {
    const message = `Branch ${id} of session ${step.session} has ${length} entries; a loop cannot begin at ${from}.`;
    throw new StoreError("other", message);
  }
  const behind = sql.get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    branch.ref,
    from,
  );
  if (part === undefined && from === length && behind === undefined) return { branch, from };
  const fork = loopBranchId(step.run, step.number, id, from);
  return {
    branch: createBranch(sql, { session: step.session, id: fork, parent: branch, position: from }),
    from,
  };
}

function createLoop(
  sql: Sql,
  opening: LoopOpening,
  branch: Branch,
  from: number,
  parentLoopId: string | undefined,
): string {
  const { step, segment, part } = opening;
  const number = numberOf(sql, opening);
  const loopId = `${step.session}.${segment}.${number}`;
  sql.run(
    `INSERT INTO loops (loop_id, session, segment, number, parent_loop_id, kind, definition_hash, model, branch,
       start, status, started_at_ms, evaluation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
    loopId,
    step.session,
    segment,
    number,
    parentLoopId ?? null,
    json(opening.kind),
    opening.definitionHash,
    opening.model,
    branch.id,
    from,
    opening.atMs,
    part?.evaluation ?? null,
  );
  const { ref } = sql.get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId)!;
  appear(sql, ref, step.run);
  return loopId;
}

/** The one that is reserved for it, unless a run that was reset has used it already. */
function numberOf(sql: Sql, { step, segment, part }: LoopOpening): number {
  const isFree = (number: number) =>
    sql.get(
      "SELECT 1 AS there FROM loops WHERE session = ? AND segment = ? AND number = ?",
      step.session,
      segment,
      number,
    ) === undefined;
  if (part !== undefined && isFree(part.number)) return part.number;
  return lastNumber(sql, step.session, segment) + 1;
}

/** The inbox, then the prompts; each message once, however often it was sent. */
function openingEntries(
  sql: Sql,
  opening: LoopOpening,
  inbox: readonly NewMessage[],
  loopId: string,
  from: number,
): NewEntry[] {
  const { session } = opening.step;
  const seen = new Set<string>();
  const entries: NewEntry[] = [];
  const add = (origin: EntryOrigin, message: NewMessage): void => {
    if (seen.has(message.id) || isEntered(sql, session, message.id)) return;
    seen.add(message.id);
    const position = from + entries.length;
    entries.push({ position, origin, message: spoken(message, loopId), messageId: message.id });
  };
  for (const message of inbox) add("inbox", message);
  for (const message of opening.prompts) add(message.origin ?? "prompt", message);
  return entries;
}

/** What filters have refused of words that nobody waits with for an answer. */
function refusedEntries(sql: Sql, opening: LoopOpening, reason: string, from: number): NewEntry[] {
  const { refused = [], step } = opening;
  return refused
    .filter(({ id }) => !isEntered(sql, step.session, id))
    .map(({ id, text, atMs, origin = "inbox" }, index) => ({
      position: from + index,
      origin,
      message: refusedMessage(text, reason, atMs),
      messageId: id,
    }));
}

function spoken(message: NewMessage, loopId: string): UserMessage {
  return {
    role: "user",
    content: [{ type: "text", text: message.text }],
    timestamp: message.atMs,
    turnId: { loopId, turnIndex: 0 },
  };
}

/** Closes a loop. A run that a newer one has replaced writes what it has, but does not close. */
export function closeLoop(sql: Sql, closing: LoopClosing): Stored {
  return store(sql, closing, (branch) => {
    const { loopId, status, atMs, step } = closing;
    const loop = sql.get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId);
    if (loop === undefined) throw new StoreError("other", `The transcript has no loop ${loopId} to close.`);
    if (appear(sql, loop.ref, step.run).ordinal !== newestOrdinal(sql, loop.ref)) return;
    sql.run(
      `UPDATE loops SET status = ?, ended_at_ms = ?, outcome = ?, usage = ?, cost_usd = ?, turns = ?, grants = ?
       WHERE ref = ?`,
      status,
      atMs,
      json(closing.outcome),
      json(closing.usage),
      closing.costUsd,
      closing.turns,
      closing.grants === undefined ? null : json(closing.grants),
      loop.ref,
    );
    keepView(sql, loop.ref, { branch, to: closing.to, view: closing.view });
    sql.run(
      `UPDATE sessions SET status = ?, last_active_at_ms = ?, grants = coalesce(?, grants)
       WHERE id = ? AND last_loop_id = ?`,
      status,
      atMs,
      closing.grants === undefined ? null : json(closing.grants),
      step.session,
      loopId,
    );
  });
}
