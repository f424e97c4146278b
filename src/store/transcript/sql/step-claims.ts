import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { ClaimResult, LostExecution, Step, StepKey } from "../step.ts";
import { FencedError } from "../store-error.ts";
import type { Outbox, StoreResult, StoreWrite, WriteTarget } from "../store-write.ts";
import { appendToBranch } from "./append-to-branch.ts";
import { decryptColumn } from "./column-encryption.ts";
import { createAheadError } from "./consistency-errors.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { recordRun } from "./processes.ts";
import { exec, get, json, type Work } from "./statement.ts";

type StepRow = {
  readonly kind: string;
  readonly generation: number;
  readonly executions: number;
  readonly process: string;
  readonly started_at_ms: number;
  readonly released: number;
  readonly group_pgid: number | null;
  readonly group_start: string | null;
  readonly displaced: string | null;
  readonly branch: string | null;
  readonly stored_at_ms: number | null;
  readonly result: string | null;
};

const KEY = "run = ? AND number = ? AND call = ?";

function* findStep(key: StepKey & Partial<Pick<Step, "kind">>): Work<StepRow | undefined> {
  const row = yield* get<StepRow>(
    `SELECT kind, generation, executions, process, started_at_ms, released, group_pgid, group_start, displaced, branch,
       stored_at_ms, result
     FROM steps WHERE ${KEY}`,
    key.run,
    key.number,
    key.call,
  );
  if (row !== undefined && key.kind !== undefined && row.kind !== key.kind) {
    throw createAheadError(
      `step ${key.number} of run ${key.run} is stored as "${row.kind}", but the run expects "${key.kind}"`,
    );
  }
  return row;
}

function readResult(row: StepRow, { run, number, call }: StepKey): unknown {
  return JSON.parse(decryptColumn(row, "result", buildAssociatedData("steps.result", [run, number, call]))!);
}

/**
 * Writes the outbox and takes the step.
 *
 * The outbox is also written if the step already has its result: a repeated request can have a larger outbox than the
 * first one, and the machine counts it as written after this answer. Only a request of an older generation than the row
 * is rejected, before anything is written.
 */
export function* claimStep(step: Step, target: WriteTarget, outbox: Outbox, atMs: number): Work<ClaimResult> {
  const row = yield* findStep(step);
  if (row !== undefined && row.stored_at_ms !== null) {
    const branch = yield* resolveBranch(step, target, outbox, row);
    return { type: "stored", branch, result: readResult(row, step) };
  }
  if (row !== undefined && row.generation > step.generation) throw createFencedError(step, row);
  const branch = yield* appendToBranch({ session: step.session, run: step.run, target, ...outbox });
  const executions = yield* takeStep(step, target.loopId, atMs, row);
  const all = row === undefined ? [] : listDisplaced(row);
  const [lost, earlierLost] = [all.at(-1), all.slice(0, -1)];
  return {
    type: "claimed",
    branch,
    executions,
    ...omitUndefined({ lostExecution: lost }),
    ...(earlierLost.length === 0 ? {} : { earlierLostExecutions: earlierLost }),
  };
}

/**
 * Writes outbox, entries and result.
 *
 * A write is allowed if there is no row; for the holder of the claim, which is (generation, process); for a higher
 * generation, which takes the step over; for the same generation of another process only after a release. A
 * stored result is returned to every caller and never replaced.
 *
 * @param also - More work of the same write; runs after the entries and before the result.
 */
export function* storeStep(write: StoreWrite, also?: (branch: string) => Work<void>): Work<StoreResult> {
  const { step, atMs } = write;
  const row = yield* findStep(step);
  if (row !== undefined && row.stored_at_ms !== null) {
    const branch = yield* resolveBranch(step, write, write.outbox, row);
    return { branch, result: readResult(row, step) };
  }
  if (row !== undefined && !canStore(step, row)) throw createFencedError(step, row);
  const branch = yield* appendToBranch({
    session: step.session,
    run: step.run,
    target: write,
    entries: [...write.outbox.entries, ...write.entries],
    events: write.outbox.events,
  });
  if (also !== undefined) yield* also(branch);
  if (row === undefined || !isHeldBy(step, row)) yield* takeStep(step, write.loopId, atMs, row);
  yield* finishStep(step, branch, write.result, atMs);
  return { branch, result: write.result };
}

/** Reads a step's stored result. Throws if this step may not write one. For steps without a write target. */
export function* readStepResult(step: Step): Work<{ readonly result: unknown } | undefined> {
  const row = yield* findStep(step);
  if (row === undefined) return undefined;
  if (row.stored_at_ms !== null) return { result: readResult(row, step) };
  if (!canStore(step, row)) throw createFencedError(step, row);
  return undefined;
}

/** Claims a step and stores its result in one operation. */
export function* takeAndFinishStep(
  step: Step,
  at: { loopId: string; branch: string },
  result: unknown,
  atMs: number,
): Work<void> {
  const row = yield* findStep(step);
  if (row === undefined || !isHeldBy(step, row)) yield* takeStep(step, at.loopId, atMs, row);
  yield* finishStep(step, at.branch, result, atMs);
}

function isHeldBy(step: Step, row: StepRow): boolean {
  return row.generation === step.generation && row.process === step.process;
}

function canStore(step: Step, row: StepRow): boolean {
  if (row.generation !== step.generation) return row.generation < step.generation;
  return row.process === step.process || row.released === 1;
}

/** Writes the outbox of a stored step. Its branch may have changed: a sibling with a conflict moves all siblings. */
function* resolveBranch(step: Step, target: WriteTarget, outbox: Outbox, row: StepRow): Work<string> {
  if (step.generation < row.generation) return row.branch ?? target.branch;
  return yield* appendToBranch({ session: step.session, run: step.run, target, ...outbox });
}

function* takeStep(step: Step, loopId: string, atMs: number, row: StepRow | undefined): Work<number> {
  if (step.hasNoWorkflow !== true) yield* recordRun(step, atMs);
  const executions = (row?.executions ?? 0) + 1;
  const displaced = row === undefined ? [] : listDisplaced(row);
  yield* exec(
    `INSERT INTO steps (run, number, call, session, loop_id, kind, generation, executions, process, activity_id,
       started_at_ms, workflow, displaced, released)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
     ON CONFLICT (run, number, call) DO UPDATE SET loop_id = excluded.loop_id, generation = excluded.generation,
       executions = excluded.executions, process = excluded.process, activity_id = excluded.activity_id,
       started_at_ms = excluded.started_at_ms, displaced = excluded.displaced, released = 0, group_pgid = NULL, group_start = NULL`,
    step.run,
    step.number,
    step.call,
    step.session,
    loopId,
    step.kind,
    step.generation,
    executions,
    step.process,
    step.activityId ?? null,
    atMs,
    step.workflow ?? null,
    displaced.length === 0 ? null : json(displaced),
  );
  return executions;
}

function* finishStep(step: StepKey, branch: string, result: unknown, atMs: number): Work<void> {
  yield* exec(
    `UPDATE steps SET branch = ?, stored_at_ms = ?, result = ? WHERE ${KEY}`,
    branch,
    atMs,
    markForEncryption(json(result), "steps.result", step.run, step.number, step.call),
    step.run,
    step.number,
    step.call,
  );
}

/** More consecutive claims than any run makes. Beyond that, the oldest are retained. */
const MAX_DISPLACED = 32;

/** Lists earlier executions that have not released the step, oldest first. */
function listDisplaced(row: StepRow): readonly LostExecution[] {
  const before = row.displaced === null ? [] : (JSON.parse(row.displaced) as LostExecution[]);
  if (row.released === 1) return before;
  return [...before.slice(0, MAX_DISPLACED - 1), toLostExecution(row)];
}

export function* findClaimHolder(key: StepKey): Work<LostExecution | undefined> {
  const row = yield* findStep({ run: key.run, number: key.number, call: key.call });
  if (row === undefined || row.stored_at_ms !== null || row.released === 1) return undefined;
  return toLostExecution(row);
}

function toLostExecution(row: StepRow): LostExecution {
  return {
    generation: row.generation,
    process: row.process,
    startedAtMs: row.started_at_ms,
    ...(row.group_pgid === null ? {} : { group: { pgid: row.group_pgid, startTime: row.group_start! } }),
  };
}

function createFencedError(step: Step, row: StepRow | undefined): FencedError {
  const name = `Step ${step.number}.${step.call} (${step.kind}) of run ${step.run}`;
  const refusal = `generation ${step.generation} of process ${step.process} must not write`;
  if (row === undefined) return new FencedError(`${name}: ${refusal}: the step is not claimed`);
  return new FencedError(`${name}: ${refusal}: generation ${row.generation} of ${row.process} holds it`);
}

function* assertHeld(step: Step): Work<StepRow> {
  const row = yield* findStep(step);
  if (row === undefined || !isHeldBy(step, row)) throw createFencedError(step, row);
  return row;
}

/** Releases a claim. A step that has its result is unchanged. */
export function* releaseStep(step: Step): Work<void> {
  if ((yield* assertHeld(step)).stored_at_ms !== null) return;
  yield* exec(`UPDATE steps SET released = 1 WHERE ${KEY}`, step.run, step.number, step.call);
}

export function* setProcessGroup(step: Step, group: { pgid: number; startTime: string }): Work<void> {
  yield* assertHeld(step);
  yield* exec(
    `UPDATE steps SET group_pgid = ?, group_start = ? WHERE ${KEY}`,
    group.pgid,
    group.startTime,
    step.run,
    step.number,
    step.call,
  );
}

export function* setNote(step: Step, text: string): Work<void> {
  yield* assertHeld(step);
  const note = markForEncryption(json(text), "steps.note", step.run, step.number, step.call);
  yield* exec(`UPDATE steps SET note = ? WHERE ${KEY}`, note, step.run, step.number, step.call);
}

export function* readNote(key: StepKey): Work<string | undefined> {
  const row = yield* get<{ note: string | null }>(
    `SELECT note FROM steps WHERE ${KEY}`,
    key.run,
    key.number,
    key.call,
  );
  if (row === undefined) return undefined;
  const note = decryptColumn(row, "note", buildAssociatedData("steps.note", [key.run, key.number, key.call]));
  return note === null ? undefined : (JSON.parse(note) as string);
}
