import type { LoopEvent } from "../../../schema/record.ts";
import type { NewEvent } from "../write.ts";
import { placeOf, secret } from "./private.ts";
import { all, exec, get, json, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

/** A run that has written to a loop. The highest ordinal is the newest: the one that the record follows. */
export type LoopRun = {
  readonly ordinal: number;
  readonly run: string;
  readonly low: number | null;
  readonly upto: number | null;
  /** It has only just been entered. */
  readonly isNew?: true;
};

const COLUMNS = "ordinal, run, low, upto";

/** Enters the run into the loop's list at its first write. */
export function* appear(loop: number, run: string): Work<LoopRun> {
  const known = yield* get<LoopRun>(`SELECT ${COLUMNS} FROM loop_runs WHERE loop = ? AND run = ?`, loop, run);
  if (known !== undefined) return known;
  const ordinal = (yield* newestOrdinal(loop)) + 1;
  yield* exec("INSERT INTO loop_runs (loop, ordinal, run) VALUES (?, ?, ?)", loop, ordinal, run);
  return { ordinal, run, low: null, upto: null, isNew: true };
}

export function* newestOrdinal(loop: number): Work<number> {
  const text = "SELECT max(ordinal) AS n FROM loop_runs WHERE loop = ?";
  return (yield* get<{ n: number | null }>(text, loop))?.n ?? -1;
}

/** Writes events; one that this run has written before stays as it is. */
export function* putEvents(loop: number, writer: LoopRun, events: readonly NewEvent[]): Work<void> {
  if (events.length === 0) return;
  for (const event of events) {
    yield* exec(
      `INSERT INTO events (loop, ordinal, sequence, at_ms, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      loop,
      writer.ordinal,
      event.sequence,
      event.atMs,
      secret(json(event.body), "events.body", loop, writer.ordinal, event.sequence),
    );
  }
  const low = Math.min(writer.low ?? Number.POSITIVE_INFINITY, ...events.map((event) => event.sequence));
  let upto = low === writer.low ? writer.upto! : low;
  while (yield* hasEvent(loop, writer.ordinal, upto)) upto += 1;
  yield* exec(
    "UPDATE loop_runs SET low = ?, upto = ? WHERE loop = ? AND ordinal = ?",
    low,
    upto,
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

/** Events of one run that a reader sees, `to` not included. */
export type EventStretch = { readonly ordinal: number; readonly from: number; readonly to: number };

/**
 * What a reader sees of a loop, in order, up to the first gap.
 *
 * A run that came later hides all of the earlier ones from its own lowest sequence on.
 */
export function* visibleEvents(loop: number): Work<EventStretch[]> {
  const runs = yield* all<LoopRun>(
    `SELECT ${COLUMNS} FROM loop_runs WHERE loop = ? AND low IS NOT NULL ORDER BY ordinal DESC`,
    loop,
  );
  const seen: (EventStretch & { readonly upto: number })[] = [];
  let end = Number.POSITIVE_INFINITY;
  for (const run of runs) {
    if (run.low! < end) seen.unshift({ ordinal: run.ordinal, from: run.low!, to: end, upto: run.upto! });
    end = Math.min(end, run.low!);
  }
  const unbroken: EventStretch[] = [];
  let reached = 0;
  for (const { ordinal, from, to, upto } of seen) {
    if (from !== reached) break;
    reached = Math.min(to, upto);
    unbroken.push({ ordinal, from, to: reached });
    if (reached < to) break;
  }
  return unbroken;
}

export function* eventRows(
  loop: { readonly ref: number; readonly loopId: string },
  stretch: EventStretch,
  from: number,
  limit: number,
): Work<LoopEvent[]> {
  const rows = yield* all<{ sequence: number; at_ms: number; body: string }>(
    `SELECT sequence, at_ms, body FROM events
     WHERE loop = ? AND ordinal = ? AND sequence >= ? AND sequence < ? ORDER BY sequence LIMIT ?`,
    loop.ref,
    stretch.ordinal,
    from,
    stretch.to,
    limit,
  );
  return rows.map((row) => ({
    loopId: loop.loopId,
    sequence: row.sequence,
    atMs: row.at_ms,
    body: JSON.parse(wordsIn(row, "body", placeOf("events.body", [loop.ref, stretch.ordinal, row.sequence]))),
  }));
}
