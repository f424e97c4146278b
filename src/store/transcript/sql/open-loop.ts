import { readGrants } from "../../../core/permission/grants.ts";
import { estimateMessage } from "../../../core/view/estimate.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { LoopClosing, LoopOpening, OpenedLoop } from "../loop.ts";
import { StoreError } from "../store-error.ts";
import type { StoreResult } from "../store-write.ts";
import {
  type BranchRow,
  countTokensBefore,
  createBranch,
  findBranch,
  formatLoopBranchId,
  readLength,
} from "./branches.ts";
import { decryptColumn } from "./column-encryption.ts";
import { createAheadError, createBehindError } from "./consistency-errors.ts";
import { putContent } from "./contents.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { putEntries } from "./entries.ts";
import { findLastNumber } from "./evaluations.ts";
import { addRun, readNewestOrdinal } from "./events.ts";
import { findLoopBefore } from "./find-loop-before.ts";
import { isMessageTaken, readInbox, takeFromInbox } from "./inbox.ts";
import { readViewBefore, saveView } from "./loop-views.ts";
import { buildOpeningEntries, buildRejectedEntries } from "./opening-entries.ts";
import { findOpenedBeforeReset } from "./reopen-after-reset.ts";
import { assertVisible } from "./session-visibility.ts";
import { abortRunningLoops, createSession, getInitialScope, MAIN_BRANCH } from "./sessions.ts";
import { exec, get, json, type Work } from "./statement.ts";
import { readStepResult, setNote, storeStep, takeAndFinishStep } from "./step-claims.ts";
import { addTextOwner } from "./texts.ts";
import { initialiseTitle } from "./titles.ts";

type SessionRow = {
  readonly head_branch: string;
  readonly last_loop_id: string | null;
  readonly grants: string | null;
};

/** Opens a loop. A repeated request, or one by a run that was reset, returns the step's stored result. */
export function* openLoop(opening: LoopOpening): Work<OpenedLoop> {
  const { step, atMs } = opening;
  const before = yield* readStepResult(step);
  if (before !== undefined) return yield* checkOpened(opening, before.result as OpenedLoop);
  yield* assertVisible(step.session);
  const opened = (yield* findOpenedBeforeReset(opening)) ?? (yield* createNewLoop(opening));
  yield* takeAndFinishStep(step, opened, opened, atMs);
  // Not sorted: a repeated request must be identical byte for byte.
  if (opening.terms !== undefined) {
    const hash = yield* putContent(JSON.stringify(opening.terms));
    yield* addTextOwner(step.session, hash);
    yield* setNote(step, hash);
  }
  return opened;
}

function* createNewLoop(opening: LoopOpening): Work<OpenedLoop> {
  const { step, atMs } = opening;
  const session = yield* get<SessionRow>(
    "SELECT head_branch, last_loop_id, grants FROM sessions WHERE id = ?",
    step.session,
  );
  const { part } = opening;
  if (opening.expectedEnd !== undefined) yield* assertReached(step.session, opening.expectedEnd);
  if (session === undefined) yield* createSession(opening);
  else if (part === undefined) yield* abortRunningLoops(step.session, atMs);
  if (session !== undefined) yield* getInitialScope(opening);

  const { branch, from } = yield* resolveStart(opening, session?.head_branch ?? MAIN_BRANCH);
  const parentLoopId = yield* findParentLoop(opening, session, branch, from);
  const loopId = yield* createLoop(opening, branch, from, parentLoopId);

  const takesMessages = opening.kind.type !== "compaction" && part === undefined;
  const newMessages = takesMessages ? (opening.inbox ?? (yield* readInbox(step.session))) : [];
  const { rejected, rejectedMessages = [] } = opening;
  const entries =
    rejected === undefined
      ? yield* buildOpeningEntries(opening, newMessages, loopId, from)
      : yield* buildRejectedEntries(opening, rejected, from);
  yield* putEntries(step.session, branch, step.run, entries);
  yield* takeFromInbox(step.session, rejected === undefined ? newMessages : rejectedMessages);
  yield* updateSession(opening, branch, loopId);
  const title = yield* initialiseTitle(opening, entries);
  const view = yield* readViewBefore(branch, from);
  const grants =
    session === undefined
      ? null
      : decryptColumn(session, "grants", buildAssociatedData("sessions.grants", [step.session]));
  return {
    loopId,
    ...omitUndefined({ parentLoopId }),
    kind: opening.kind,
    branch: branch.id,
    from,
    tokensBefore: yield* countTokensBefore(branch, from),
    ...omitUndefined({ view }),
    ...(grants === null ? {} : { grants: readGrants(JSON.parse(grants)) }),
    entries: entries.map((entry) => ({
      origin: entry.origin,
      messageId: entry.messageId!,
      tokens: estimateMessage(entry.message),
      ...(rejected === undefined ? {} : { isRejected: true as const }),
    })),
    ...omitUndefined({ rejected, rejectedBy: opening.rejectedBy }),
    ...(opening.returnsDefinition === true ? { definitionHash: opening.definitionHash } : {}),
    ...omitUndefined({ title }),
  };
}

/** Checks that the loop was opened for these prompts or rejected. Another opening under the same number is an error. */
function* checkOpened({ step, prompts }: LoopOpening, opened: OpenedLoop): Work<OpenedLoop> {
  if (opened.rejected !== undefined) return opened;
  for (const { id } of prompts) {
    if (yield* isMessageTaken(step.session, id)) continue;
    throw createAheadError(
      `step ${step.number} of run ${step.run} has opened loop ${opened.loopId} with other prompts`,
    );
  }
  return opened;
}

/** Checks that the entries of the run's earlier loops exist. */
function* assertReached(session: string, expectedEnd: NonNullable<LoopOpening["expectedEnd"]>): Work<void> {
  const branch = yield* findBranch(session, expectedEnd.branch);
  const length = branch === undefined ? 0 : yield* readLength(branch);
  if (length >= expectedEnd.length) return;
  throw createBehindError(
    `branch ${expectedEnd.branch} of session ${session} has ${length} entries of ${expectedEnd.length}`,
  );
}

/** Finds the session's last loop (ID-05, X-08), or for a `branch` with a position, the one before it (HITL-02). */
function* findParentLoop(
  opening: LoopOpening,
  session: SessionRow | undefined,
  branch: BranchRow,
  from: number,
): Work<string | undefined> {
  if (opening.part !== undefined) return opening.part.parentLoopId;
  if (session === undefined) return opening.spawn?.loopId;
  const isElsewhere = opening.at !== undefined && opening.kind.type === "branch";
  const position = isElsewhere ? yield* findLoopBefore(branch, from) : undefined;
  return position ?? session.last_loop_id ?? undefined;
}

/** Updates the session to its newest loop, unless the loop is part of an evaluation, whose outcome updates the session. */
function* updateSession(opening: LoopOpening, branch: BranchRow, loopId: string): Work<void> {
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
 * Returns where the loop begins. It gets a branch of its own if it begins before the end of a branch or other entries
 * follow, and always if it is part of an evaluation.
 */
function* resolveStart(opening: LoopOpening, head: string): Work<{ branch: BranchRow; from: number }> {
  const { step, part } = opening;
  const position = part?.at ?? opening.at;
  const id = position?.branch ?? head;
  const branch = yield* findBranch(step.session, id);
  if (branch === undefined) throw new StoreError("other", `Session ${step.session} has no branch ${id}.`);
  const length = yield* readLength(branch);
  const from = position?.position ?? length;
  if (from > length) {
    const message = `Branch ${id} of session ${step.session} has ${length} entries; a loop cannot begin at ${from}.`;
    throw new StoreError("other", message);
  }
  const hasLater = yield* get(
    "SELECT 1 AS there FROM entries WHERE branch = ? AND position >= ? LIMIT 1",
    branch.ref,
    from,
  );
  if (part === undefined && from === length && hasLater === undefined) return { branch, from };
  const fork = formatLoopBranchId(step.run, step.number, id, from);
  return {
    branch: yield* createBranch({ session: step.session, id: fork, parent: branch, position: from }),
    from,
  };
}

function* createLoop(
  opening: LoopOpening,
  branch: BranchRow,
  from: number,
  parentLoopId: string | undefined,
): Work<string> {
  const { step, segment, part } = opening;
  const number = yield* reserveNumber(opening);
  const loopId = `${step.session}.${segment}.${number}`;
  yield* exec(
    `INSERT INTO loops (loop_id, session, segment, number, parent_loop_id, kind, definition_hash, model, branch,
       start, status, started_at_ms, evaluation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)`,
    loopId,
    step.session,
    segment,
    number,
    parentLoopId ?? null,
    markForEncryption(json(opening.kind), "loops.kind", loopId),
    opening.definitionHash,
    opening.model,
    branch.id,
    from,
    opening.atMs,
    part?.evaluation ?? null,
  );
  const { ref } = (yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId))!;
  yield* addRun(ref, step.run);
  return loopId;
}

/** Returns the reserved number, unless a run that was reset has already used it. */
function* reserveNumber({ step, segment, part }: LoopOpening): Work<number> {
  if (part !== undefined) {
    const reserved = yield* get(
      "SELECT 1 AS there FROM loops WHERE session = ? AND segment = ? AND number = ?",
      step.session,
      segment,
      part.number,
    );
    if (reserved === undefined) return part.number;
  }
  return (yield* findLastNumber(step.session, segment)) + 1;
}

/** Closes a loop. A run that a newer one has replaced writes its entries, but does not close the loop. */
export function* closeLoop(closing: LoopClosing): Work<StoreResult> {
  return yield* storeStep(closing, function* (branch) {
    const { loopId, status, atMs, step } = closing;
    const grants = closing.grants === undefined ? null : json(closing.grants);
    const loop = yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId);
    if (loop === undefined)
      throw createBehindError(`it does not contain loop ${loopId}, which this run closes`);
    if ((yield* addRun(loop.ref, step.run)).ordinal !== (yield* readNewestOrdinal(loop.ref))) return;
    yield* exec(
      `UPDATE loops SET status = ?, ended_at_ms = ?, outcome = ?, usage = ?, cost_usd = ?, turns = ?, grants = ?
       WHERE ref = ?`,
      status,
      atMs,
      markForEncryption(json(closing.outcome), "loops.outcome", loopId),
      json(closing.usage),
      closing.costUsd,
      closing.turns,
      markForEncryption(grants, "loops.grants", loopId),
      loop.ref,
    );
    yield* saveView(loopId, { branch, to: closing.to, view: closing.view });
    yield* exec(
      `UPDATE sessions SET status = ?, last_active_at_ms = ?, grants = coalesce(?, grants)
       WHERE id = ? AND last_loop_id = ?`,
      status,
      atMs,
      markForEncryption(grants, "sessions.grants", step.session),
      step.session,
      loopId,
    );
  });
}
