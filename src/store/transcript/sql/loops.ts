import { readGrants } from "../../../core/permission/grants.ts";
import { estimateMessage } from "../../../core/view/estimate.ts";
import type { LoopClosing, LoopOpened, LoopOpening } from "../loop.ts";
import { StoreError } from "../store-error.ts";
import type { Stored } from "../write.ts";
import { type Branch, createBranch, findBranch, lengthOf, loopBranchId, tokensBefore } from "./branches.ts";
import { putContent } from "./contents.ts";
import { putEntries } from "./entries.ts";
import { lastNumber } from "./evaluations.ts";
import { appear, newestOrdinal } from "./events.ts";
import { mustBeSeen } from "./hidden.ts";
import { inboxOf, isEntered, takeFromInbox } from "./inbox.ts";
import { loopBefore } from "./loop-before.ts";
import { keepView, viewBefore } from "./loop-views.ts";
import { openingEntries, refusedEntries } from "./opening-entries.ts";
import { ahead, behind } from "./out-of-step.ts";
import { placeOf, secret } from "./private.ts";
import { openedBeforeReset } from "./reset.ts";
import { abortRunning, createSession, MAIN, scopeAtFirst } from "./sessions.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { resultOf, setNote, store, takeAndFinish } from "./steps.ts";
import { nameText } from "./texts.ts";
import { wordsIn } from "./vault.ts";

type SessionRow = {
  readonly head_branch: string;
  readonly last_loop_id: string | null;
  readonly grants: string | null;
};

/** Opens a loop; the step's stored answer makes a second asking give the same, and one by a run that was reset. */
export function* openLoop(opening: LoopOpening): Work<LoopOpened> {
  const { step, atMs } = opening;
  const before = yield* resultOf(step);
  if (before !== undefined) return yield* asOpened(opening, before.result as LoopOpened);
  yield* mustBeSeen(step.session);
  const opened = (yield* openedBeforeReset(opening)) ?? (yield* newLoop(opening));
  yield* takeAndFinish(step, opened, opened, atMs);
  // As it is, not sorted: a request is made again byte for byte.
  if (opening.terms !== undefined) {
    const hash = yield* putContent(JSON.stringify(opening.terms));
    yield* nameText(step.session, hash);
    yield* setNote(step, hash);
  }
  return opened;
}

function* newLoop(opening: LoopOpening): Work<LoopOpened> {
  const { step, atMs } = opening;
  const session = yield* get<SessionRow>(
    "SELECT head_branch, last_loop_id, grants FROM sessions WHERE id = ?",
    step.session,
  );
  const { part } = opening;
  if (opening.expects !== undefined) yield* mustReach(step.session, opening.expects);
  if (session === undefined) yield* createSession(opening);
  else if (part === undefined) yield* abortRunning(step.session, atMs);
  if (session !== undefined) yield* scopeAtFirst(opening);

  const { branch, from } = yield* start(opening, session?.head_branch ?? MAIN);
  const parentLoopId = yield* parentOf(opening, session, branch, from);
  const loopId = yield* createLoop(opening, branch, from, parentLoopId);

  const isSpokenTo = opening.kind.type !== "compaction" && part === undefined;
  const words = isSpokenTo ? (opening.inbox ?? (yield* inboxOf(step.session))) : [];
  const { rejected, refused = [] } = opening;
  const entries =
    rejected === undefined
      ? yield* openingEntries(opening, words, loopId, from)
      : yield* refusedEntries(opening, rejected, from);
  yield* putEntries(step.session, branch, step.run, entries);
  yield* takeFromInbox(step.session, rejected === undefined ? words : refused);
  yield* noteInSession(opening, branch, loopId);
  const view = yield* viewBefore(branch, from);
  const grants =
    session === undefined ? null : wordsIn(session, "grants", placeOf("sessions.grants", [step.session]));
  return {
    loopId,
    ...(parentLoopId === undefined ? {} : { parentLoopId }),
    kind: opening.kind,
    branch: branch.id,
    from,
    tokensBefore: yield* tokensBefore(branch, from),
    ...(view === undefined ? {} : { view }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    entries: entries.map((entry) => ({
      origin: entry.origin,
      messageId: entry.messageId!,
      tokens: estimateMessage(entry.message),
      ...(rejected === undefined ? {} : { refused: true as const }),
    })),
    ...(rejected === undefined ? {} : { rejected }),
    ...(opening.rejectedBy === undefined ? {} : { rejectedBy: opening.rejectedBy }),
    ...(opening.tellsDefinition === true ? { definitionHash: opening.definitionHash } : {}),
  };
}

/** It was opened for these prompts, or refused whatever was asked; another opening under its number is not ours. */
function* asOpened({ step, prompts }: LoopOpening, opened: LoopOpened): Work<LoopOpened> {
  if (opened.rejected !== undefined) return opened;
  for (const { id } of prompts) {
    if (yield* isEntered(step.session, id)) continue;
    throw ahead(`step ${step.number} of run ${step.run} has opened loop ${opened.loopId} with other prompts`);
  }
  return opened;
}

/** What an earlier loop of the run has left. */
function* mustReach(session: string, expects: NonNullable<LoopOpening["expects"]>): Work<void> {
  const branch = yield* findBranch(session, expects.branch);
  const length = branch === undefined ? 0 : yield* lengthOf(branch);
  if (length >= expects.length) return;
  throw behind(`branch ${expects.branch} of session ${session} has ${length} entries of ${expects.length}`);
}

/** The session's last loop (ID-05, X-08); of a `branch` that says where, the one before that place (HITL-02). */
function* parentOf(
  opening: LoopOpening,
  session: SessionRow | undefined,
  branch: Branch,
  from: number,
): Work<string | undefined> {
  if (opening.part !== undefined) return opening.part.parentLoopId;
  if (session === undefined) return opening.spawn?.loopId;
  const isElsewhere = opening.at !== undefined && opening.kind.type === "branch";
  const there = isElsewhere ? yield* loopBefore(branch, from) : undefined;
  return there ?? session.last_loop_id ?? undefined;
}

/** The newest loop is the session's face, unless it is one of several: then the session waits for the choice. */
function* noteInSession(opening: LoopOpening, branch: Branch, loopId: string): Work<void> {
  const { session } = opening.step;
  if (opening.part !== undefined) {
    yield* exec(
      "UPDATE sessions SET loops = loops + 1, last_active_at_ms = ? WHERE id = ?",
      opening.atMs,
      session,
    );
    return;
  }
  yield* exec(
    `UPDATE sessions SET agent_name = ?, definition_hash = ?, model = ?, last_active_at_ms = ?, head_branch = ?,
       loops = loops + 1, last_loop_id = ?, status = 'running', agent_id = coalesce(agent_id, ?) WHERE id = ?`,
    opening.agentName,
    opening.definitionHash,
    opening.model,
    opening.atMs,
    branch.id,
    loopId,
    opening.agentId ?? null,
    session,
  );
}

/**
 * Where the loop begins. Before the end of a branch, or where others have written on, it gets one of its own; one of
 * several always does.
 */
function* start(opening: LoopOpening, head: string): Work<{ branch: Branch; from: number }> {
  const { step, part } = opening;
  const place = part?.at ?? opening.at;
  const id = place?.branch ?? head;
  const branch = yield* findBranch(step.session, id);
  if (branch === undefined) throw new StoreError("other", `Session ${step.session} has no branch ${id}.`);
  const length = yield* lengthOf(branch);
  const from = place?.position ?? length;
  if (from > length) {
    const message = `Branch ${id} of session ${step.session} has ${length} entries; a loop cannot begin at ${from}.`;
    throw new StoreError("other", message);
  }
  const behind = yield* get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    branch.ref,
    from,
  );
  if (part === undefined && from === length && behind === undefined) return { branch, from };
  const fork = loopBranchId(step.run, step.number, id, from);
  return {
    branch: yield* createBranch({ session: step.session, id: fork, parent: branch, position: from }),
    from,
  };
}

function* createLoop(
  opening: LoopOpening,
  branch: Branch,
  from: number,
  parentLoopId: string | undefined,
): Work<string> {
  const { step, segment, part } = opening;
  const number = yield* numberOf(opening);
  const loopId = `${step.session}.${segment}.${number}`;
  yield* exec(
    `INSERT INTO loops (loop_id, session, segment, number, parent_loop_id, kind, definition_hash, model, branch,
       start, status, started_at_ms, evaluation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
    loopId,
    step.session,
    segment,
    number,
    parentLoopId ?? null,
    secret(json(opening.kind), "loops.kind", loopId),
    opening.definitionHash,
    opening.model,
    branch.id,
    from,
    opening.atMs,
    part?.evaluation ?? null,
  );
  const { ref } = (yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId))!;
  yield* appear(ref, step.run);
  return loopId;
}

/** The one that is reserved for it, unless a run that was reset has used it already. */
function* numberOf({ step, segment, part }: LoopOpening): Work<number> {
  if (part !== undefined) {
    const taken = yield* get(
      "SELECT 1 AS there FROM loops WHERE session = ? AND segment = ? AND number = ?",
      step.session,
      segment,
      part.number,
    );
    if (taken === undefined) return part.number;
  }
  return (yield* lastNumber(step.session, segment)) + 1;
}

/** Closes a loop. A run that a newer one has replaced writes what it has, but does not close. */
export function* closeLoop(closing: LoopClosing): Work<Stored> {
  return yield* store(closing, function* (branch) {
    const { loopId, status, atMs, step } = closing;
    const grants = closing.grants === undefined ? null : json(closing.grants);
    const loop = yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId);
    if (loop === undefined) throw behind(`it has no loop ${loopId}, which is to be closed`);
    if ((yield* appear(loop.ref, step.run)).ordinal !== (yield* newestOrdinal(loop.ref))) return;
    yield* exec(
      `UPDATE loops SET status = ?, ended_at_ms = ?, outcome = ?, usage = ?, cost_usd = ?, turns = ?, grants = ?
       WHERE ref = ?`,
      status,
      atMs,
      secret(json(closing.outcome), "loops.outcome", loopId),
      json(closing.usage),
      closing.costUsd,
      closing.turns,
      secret(grants, "loops.grants", loopId),
      loop.ref,
    );
    yield* keepView(loopId, { branch, to: closing.to, view: closing.view });
    yield* exec(
      `UPDATE sessions SET status = ?, last_active_at_ms = ?, grants = coalesce(?, grants)
       WHERE id = ? AND last_loop_id = ?`,
      status,
      atMs,
      secret(grants, "sessions.grants", step.session),
      step.session,
      loopId,
    );
  });
}
