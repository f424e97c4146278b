import type { LoopEvent } from "../../../schema/loop-event.ts";
import type { Entry } from "../../../schema/record.ts";
import { findBranch, findRanges, readLength } from "./branches.ts";
import type { Engine } from "./engine.ts";
import { readEntryRows, toEntry } from "./entries.ts";
import { findVisibleRanges, readEventRows } from "./events.ts";
import { get, type Work } from "./statement.ts";

// Reads of any length, in pages. The range is fixed at the beginning, and rows never change, so writes between two pages
// do not affect the result.

const PAGE = 100;

export async function readEntries(
  engine: Engine,
  session: string,
  branch: string,
  from: number,
  to: number,
  data: "whole" | "reference" = "whole",
): Promise<Entry[]> {
  const plan = await engine.read(function* () {
    const found = yield* findBranch(session, branch);
    if (found === undefined) return [];
    return yield* findRanges(found, from, Math.min(to, yield* readLength(found)));
  });
  const entries: Entry[] = [];
  for (const range of plan) {
    for (let position = range.from; position < range.to; ) {
      const next = position;
      const rows = await engine.read(() => readEntryRows(range, next, PAGE));
      if (rows.length === 0) break;
      for (const row of rows) {
        entries.push(await engine.read(() => toEntry(row, data)));
        await engine.yieldIfDue();
      }
      position = rows[rows.length - 1]!.position + 1;
    }
  }
  return entries;
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
