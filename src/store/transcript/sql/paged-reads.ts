import type { LoopEvent } from "../../../schema/loop-event.ts";
import type { Entry } from "../../../schema/record.ts";
import type { Continuation, KnownEntries } from "../continuation.ts";
import { type BranchRange, findBranch, findRanges, readLength } from "./branches.ts";
import type { Engine } from "./engine.ts";
import { type EntryRow, readEntryRows, toEntry, toInlineEntry } from "./entries.ts";
import { findVisibleRanges, readEventRows } from "./events.ts";
import { get, type Work } from "./statement.ts";

// Reads of any length, in pages. The range is fixed at the beginning, and rows never change, so writes between two pages
// do not affect the result.

const PAGE = 100;

/** A row, and its entry unless the message is stored in `contents`. */
type ReadRow = { readonly row: EntryRow; readonly inline: Entry | undefined };

/** What a branch contains between two positions, and the first rows of it. */
type EntryPlan = { readonly ranges: readonly BranchRange[]; readonly firstRows: readonly ReadRow[] };

const NO_ENTRIES: EntryPlan = { ranges: [], firstRows: [] };

function* planEntries(session: string, branch: string, from: number, to: number): Work<EntryPlan> {
  const found = yield* findBranch(session, branch);
  if (found === undefined) return NO_ENTRIES;
  const ranges = yield* findRanges(found, from, Math.min(to, yield* readLength(found)));
  const [first] = ranges;
  return first === undefined ? NO_ENTRIES : { ranges, firstRows: yield* readPage(first, first.from) };
}

function* readPage(range: BranchRange, from: number): Work<readonly ReadRow[]> {
  const rows = yield* readEntryRows(range, from, PAGE);
  return rows.map((row) => ({ row, inline: row.content === null ? toInlineEntry(row) : undefined }));
}

async function* readRows(engine: Engine, { ranges, firstRows }: EntryPlan): AsyncGenerator<ReadRow> {
  let known: readonly ReadRow[] | undefined = firstRows;
  for (const range of ranges) {
    for (let position = range.from; position < range.to; ) {
      const next = position;
      const rows: readonly ReadRow[] = known ?? (await engine.read(() => readPage(range, next)));
      known = undefined;
      if (rows.length === 0) break;
      for (const row of rows) {
        yield row;
        await engine.yieldIfDue();
      }
      position = rows[rows.length - 1]!.row.position + 1;
    }
  }
}

export async function readEntries(
  engine: Engine,
  session: string,
  branch: string,
  from: number,
  to: number,
  data: "whole" | "reference" = "whole",
): Promise<Entry[]> {
  const entries: Entry[] = [];
  const plan = await engine.read(() => planEntries(session, branch, from, to));
  for await (const { row, inline } of readRows(engine, plan))
    entries.push(inline ?? (await engine.read(() => toEntry(row, data))));
  return entries;
}

/** Reads what follows entries that the caller knows. The last known entry is read again, for the run that wrote it. */
export async function readContinuation(
  engine: Engine,
  session: string,
  branch: string,
  known: KnownEntries,
  to: number,
): Promise<Continuation> {
  const last = known.count - 1;
  const plan = await engine.read(() =>
    planEntries(session, branch, Math.max(0, last), Math.max(to, known.count)),
  );
  const entries: Entry[] = [];
  let writer: string | undefined;
  for await (const { row, inline } of readRows(engine, plan)) {
    if (row.position > last) entries.push(inline ?? (await engine.read(() => toEntry(row, "reference"))));
    else if (row.run !== known.writer) break;
    writer = row.run;
  }
  if (writer !== undefined || last < 0) return { follows: true, entries, writer };
  const whole = await readContinuation(engine, session, branch, { count: 0, writer: undefined }, to);
  return { ...whole, follows: false };
}

export async function readEvents(engine: Engine, loopId: string, from: number): Promise<LoopEvent[]> {
  const plan = await engine.read(function* () {
    const loop = yield* get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId);
    return loop === undefined ? undefined : { ref: loop.ref, stretches: yield* findVisibleRanges(loop.ref) };
  });
  const events: LoopEvent[] = [];
  if (plan === undefined) return events;
  for (const range of plan.stretches) {
    for (let sequence = Math.max(from, range.from); sequence < range.to; ) {
      const next = sequence;
      const page = await engine.read(() => readEventRows({ ref: plan.ref, loopId }, range, next, PAGE));
      if (page.length === 0) break;
      events.push(...page);
      await engine.yieldIfDue();
      sequence = page[page.length - 1]!.sequence + 1;
    }
  }
  return events;
}

/** Reads all rows of a table in ascending order of `ref`. */
export async function readPages<T>(
  engine: Engine,
  page: (after: number, limit: number) => Work<readonly { ref: number; record: T }[]>,
): Promise<T[]> {
  const records: T[] = [];
  for (let after = 0; ; ) {
    const nextRef = after;
    const rows = await engine.read(() => page(nextRef, PAGE));
    records.push(...rows.map((row) => row.record));
    if (rows.length < PAGE) return records;
    after = rows[rows.length - 1]!.ref;
    await engine.yieldIfDue();
  }
}
