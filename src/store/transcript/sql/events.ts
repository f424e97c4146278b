import type { LoopEvent } from "../../../schema/loop-event.ts";
import type { NewEvent } from "../store-write.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { all, exec, get, json, type Work } from "./statement.ts";

/** A run that has written to a loop. The highest ordinal is the newest run, which the record follows. */
export type LoopRun = {
  readonly ordinal: number;
  readonly run: string;
  readonly first_sequence: number | null;
  readonly end_sequence: number | null;
  /** The run was just added. */
  readonly isNew?: true;
};

const COLUMNS = "ordinal, run, first_sequence, end_sequence";

/** Adds the run to the loop's runs at its first write. */
export function* addRun(loop: number, run: string): Work<LoopRun> {
  const existing = yield* get<LoopRun>(
    `SELECT ${COLUMNS} FROM loop_runs WHERE loop = ? AND run = ?`,
    loop,
    run,
  );
  if (existing !== undefined) return existing;
  const ordinal = (yield* readNewestOrdinal(loop)) + 1;
  yield* exec("INSERT INTO loop_runs (loop, ordinal, run) VALUES (?, ?, ?)", loop, ordinal, run);
  return { ordinal, run, first_sequence: null, end_sequence: null, isNew: true };
}

export function* readNewestOrdinal(loop: number): Work<number> {
  const text = "SELECT max(ordinal) AS n FROM loop_runs WHERE loop = ?";
  return (yield* get<{ n: number | null }>(text, loop))?.n ?? -1;
}

/** The most events in one statement. Statements are prepared once for each number of events. */
const EVENTS_AT_ONCE = 16;

/** Writes events. An event that this run has already written is unchanged. */
export function* putEvents(loop: number, writer: LoopRun, events: readonly NewEvent[]): Work<void> {
  if (events.length === 0) return;
  for (let from = 0; from < events.length; from += EVENTS_AT_ONCE) {
    const some = events.slice(from, from + EVENTS_AT_ONCE);
    yield* exec(
      `INSERT INTO events (loop, ordinal, sequence, at_ms, body) VALUES ${some.map(() => "(?, ?, ?, ?, ?)").join(", ")}
       ON CONFLICT DO NOTHING`,
      ...some.flatMap(({ sequence, atMs, body }) => [
        loop,
        writer.ordinal,
        sequence,
        atMs,
        markForEncryption(json(body), "events.body", loop, writer.ordinal, sequence),
      ]),
    );
  }
  const sequences = new Set(events.map(({ sequence }) => sequence));
  const firstSequence = Math.min(writer.first_sequence ?? Number.POSITIVE_INFINITY, ...sequences);
  let endSequence = firstSequence === writer.first_sequence ? writer.end_sequence! : firstSequence;
  while (sequences.has(endSequence) || (yield* hasEvent(loop, writer.ordinal, endSequence))) endSequence += 1;
  yield* exec(
    "UPDATE loop_runs SET first_sequence = ?, end_sequence = ? WHERE loop = ? AND ordinal = ?",
    firstSequence,
    endSequence,
    loop,
    writer.ordinal,
  );
}

function* hasEvent(loop: number, ordinal: number, sequence: number): Work<boolean> {
  const row = yield* get(
    "SELECT 1 AS there FROM events WHERE loop = ? AND ordinal = ? AND sequence = ?",
    loop,
    ordinal,
    sequence,
  );
  return row !== undefined;
}

/** A range of visible events of one run; `to` is exclusive. */
export type EventRange = { readonly ordinal: number; readonly from: number; readonly to: number };

/**
 * Finds the visible events of a loop, in order, up to the first gap.
 *
 * A later run hides all events of earlier runs from its own lowest sequence on.
 */
export function* findVisibleRanges(loop: number): Work<EventRange[]> {
  const runs = yield* all<LoopRun>(
    `SELECT ${COLUMNS} FROM loop_runs WHERE loop = ? AND first_sequence IS NOT NULL ORDER BY ordinal DESC`,
    loop,
  );
  const ranges: (EventRange & { readonly endSequence: number })[] = [];
  let end = Number.POSITIVE_INFINITY;
  for (const run of runs) {
    if (run.first_sequence! < end)
      ranges.unshift({
        ordinal: run.ordinal,
        from: run.first_sequence!,
        to: end,
        endSequence: run.end_sequence!,
      });
    end = Math.min(end, run.first_sequence!);
  }
  const unbroken: EventRange[] = [];
  let reached = 0;
  for (const { ordinal, from, to, endSequence } of ranges) {
    if (from !== reached) break;
    reached = Math.min(to, endSequence);
    unbroken.push({ ordinal, from, to: reached });
    if (reached < to) break;
  }
  return unbroken;
}

export function* readEventRows(
  loop: { readonly ref: number; readonly loopId: string },
  range: EventRange,
  from: number,
  limit: number,
): Work<LoopEvent[]> {
  const rows = yield* all<{ sequence: number; at_ms: number; body: string }>(
    `SELECT sequence, at_ms, body FROM events
     WHERE loop = ? AND ordinal = ? AND sequence >= ? AND sequence < ? ORDER BY sequence LIMIT ?`,
    loop.ref,
    range.ordinal,
    from,
    range.to,
    limit,
  );
  return rows.map((row) => ({
    loopId: loop.loopId,
    sequence: row.sequence,
    atMs: row.at_ms,
    body: JSON.parse(
      decryptColumn(row, "body", buildAssociatedData("events.body", [loop.ref, range.ordinal, row.sequence])),
    ),
  }));
}
