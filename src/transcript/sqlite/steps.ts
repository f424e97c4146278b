import type { Claimed, LostExecution, Step, StepKey } from "../step.ts";
import { FencedError } from "../store-error.ts";
import type { Outbox, Place, Stored, StoreWrite } from "../write.ts";
import { append } from "./append.ts";
import { noteRun } from "./processes.ts";
import { json, type Sql } from "./sql.ts";

export type StepRow = {
  readonly generation: number;
  readonly executions: number;
  readonly process: string;
  readonly started_at_ms: number;
  readonly released: number;
  readonly group_pgid: number | null;
  readonly group_start: string | null;
  readonly branch: string | null;
  readonly stored_at_ms: number | null;
  readonly result: string | null;
};

const KEY = "run = ? AND number = ? AND call = ?";

function find(sql: Sql, key: StepKey): StepRow | undefined {
  return sql.get<StepRow>(
    `SELECT generation, executions, process, started_at_ms, released, group_pgid, group_start, branch,
       stored_at_ms, result
     FROM steps WHERE ${KEY}`,
    key.run,
    key.number,
    key.call,
  );
}

/**
 * Writes the outbox and takes the step.
 *
 * An outbox is also written when the step has its result already: the machine that asks again has more to say
 * than the one that asked first, and counts it as written after this answer. Only who is older than the row is
 * turned away, before anything is written.
 */
export function claim(sql: Sql, step: Step, place: Place, outbox: Outbox, atMs: number): Claimed {
  const row = find(sql, step);
  if (row !== undefined && row.stored_at_ms !== null) {
    takeOutbox(sql, step, place, outbox, row);
    return { type: "stored", branch: row.branch ?? place.branch, result: JSON.parse(row.result!) };
  }
  if (row !== undefined && row.generation > step.generation) throw fenced(step, row);
  const branch = append(sql, { session: step.session, run: step.run, place, ...outbox });
  const executions = take(sql, step, place.loopId, atMs, row);
  const lost = row === undefined || row.released === 1 ? undefined : lostExecution(row);
  return { type: "claimed", branch, executions, ...(lost === undefined ? {} : { lost }) };
}

/**
 * Writes outbox, entries and result.
 *
 * Who may: anybody when there is no row; the holder of the claim, which is (generation, process); a higher
 * generation, which takes the step over; the same generation from another process only after a release. A
 * result that is stored is answered to everybody and never replaced.
 *
 * @param also - What belongs to the same write; runs behind the entries, before the result is there.
 */
export function store(sql: Sql, write: StoreWrite, also?: (branch: string) => void): Stored {
  const { step, atMs } = write;
  const settled = storedBefore(sql, write);
  if (settled !== undefined) return settled;
  const row = find(sql, step);
  const branch = append(sql, {
    session: step.session,
    run: step.run,
    place: write,
    entries: [...write.outbox.entries, ...write.entries],
    events: write.outbox.events,
  });
  also?.(branch);
  if (row === undefined || !holds(step, row)) take(sql, step, write.loopId, atMs, row);
  finish(sql, step, branch, write.result, atMs);
  return { branch, result: write.result };
}

/** The answer that an earlier execution has stored; throws when this one may not write. */
function storedBefore(sql: Sql, write: StoreWrite): Stored | undefined {
  const row = find(sql, write.step);
  if (row === undefined) return undefined;
  if (row.stored_at_ms !== null) {
    takeOutbox(sql, write.step, write, write.outbox, row);
    return { branch: row.branch ?? write.branch, result: JSON.parse(row.result!) };
  }
  if (!mayStore(write.step, row)) throw fenced(write.step, row);
  return undefined;
}

/** The result of a step that is stored; throws when this step may not write one. For steps without a place. */
export function resultOf(sql: Sql, step: Step): { readonly result: unknown } | undefined {
  const row = find(sql, step);
  if (row === undefined) return undefined;
  if (row.stored_at_ms !== null) return { result: JSON.parse(row.result!) };
  if (!mayStore(step, row)) throw fenced(step, row);
  return undefined;
}

/** Takes a step and stores its result in one go. */
export function takeAndFinish(
  sql: Sql,
  step: Step,
  at: { loopId: string; branch: string },
  result: unknown,
  atMs: number,
): void {
  const row = find(sql, step);
  if (row === undefined || !holds(step, row)) take(sql, step, at.loopId, atMs, row);
  finish(sql, step, at.branch, result, atMs);
}

function holds(step: Step, row: StepRow): boolean {
  return row.generation === step.generation && row.process === step.process;
}

function mayStore(step: Step, row: StepRow): boolean {
  if (row.generation !== step.generation) return row.generation < step.generation;
  return row.process === step.process || row.released === 1;
}

function takeOutbox(sql: Sql, step: Step, place: Place, outbox: Outbox, row: StepRow): void {
  if (step.generation < row.generation) return;
  if (outbox.entries.length === 0 && outbox.events.length === 0) return;
  append(sql, { session: step.session, run: step.run, place, ...outbox });
}

function take(sql: Sql, step: Step, loopId: string, atMs: number, row: StepRow | undefined): number {
  noteRun(sql, step, atMs);
  const executions = (row?.executions ?? 0) + 1;
  sql.run(
    `INSERT INTO steps (run, number, call, session, loop_id, kind, generation, executions, process, activity_id,
       started_at_ms, workflow, released)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
     ON CONFLICT (run, number, call) DO UPDATE SET loop_id = excluded.loop_id, generation = excluded.generation,
       executions = excluded.executions, process = excluded.process, activity_id = excluded.activity_id,
       started_at_ms = excluded.started_at_ms, released = 0, group_pgid = NULL, group_start = NULL`,
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
  );
  return executions;
}

function finish(sql: Sql, step: StepKey, branch: string, result: unknown, atMs: number): void {
  sql.run(
    `UPDATE steps SET branch = ?, stored_at_ms = ?, result = ? WHERE ${KEY}`,
    branch,
    atMs,
    json(result),
    step.run,
    step.number,
    step.call,
  );
}

function lostExecution(row: StepRow): LostExecution {
  return {
    generation: row.generation,
    process: row.process,
    startedAtMs: row.started_at_ms,
    ...(row.group_pgid === null ? {} : { group: { pgid: row.group_pgid, startTime: row.group_start! } }),
  };
}

function fenced(step: Step, row: StepRow | undefined): FencedError {
  const name = `Step ${step.number}.${step.call} (${step.kind}) of run ${step.run}`;
  const mine = `generation ${step.generation} of process ${step.process} may not write`;
  if (row === undefined) return new FencedError(`${name}: ${mine}: nobody has claimed it`);
  return new FencedError(`${name}: ${mine}: generation ${row.generation} of ${row.process} holds it`);
}

function mustHold(sql: Sql, step: Step): StepRow {
  const row = find(sql, step);
  if (row === undefined || !holds(step, row)) throw fenced(step, row);
  return row;
}

/** A step that has its result is left alone. */
export function release(sql: Sql, step: Step): void {
  if (mustHold(sql, step).stored_at_ms !== null) return;
  sql.run(`UPDATE steps SET released = 1 WHERE ${KEY}`, step.run, step.number, step.call);
}

export function noteGroup(sql: Sql, step: Step, group: { pgid: number; startTime: string }): void {
  mustHold(sql, step);
  sql.run(
    `UPDATE steps SET group_pgid = ?, group_start = ? WHERE ${KEY}`,
    group.pgid,
    group.startTime,
    step.run,
    step.number,
    step.call,
  );
}

export function setNote(sql: Sql, step: Step, text: string): void {
  mustHold(sql, step);
  sql.run(`UPDATE steps SET note = ? WHERE ${KEY}`, json(text), step.run, step.number, step.call);
}

export function noteOf(sql: Sql, key: StepKey): string | undefined {
  const row = sql.get<{ note: string | null }>(
    `SELECT note FROM steps WHERE ${KEY}`,
    key.run,
    key.number,
    key.call,
  );
  return row === undefined || row.note === null ? undefined : (JSON.parse(row.note) as string);
}
