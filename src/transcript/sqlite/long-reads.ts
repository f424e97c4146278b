import type { Entry, LoopEvent } from "../../schema/record.ts";
import { findBranch, lengthOf, stretches } from "./branches.ts";
import { entryOf, entryRows } from "./entries.ts";
import { eventRows, visibleEvents } from "./events.ts";
import type { Reader } from "./reader.ts";
import type { Sql } from "./sql.ts";

// Reads of any length, in pages. What to read is fixed at the beginning; rows never change, so that what other
// writers do between two pages does not matter.

const PAGE = 100;

export async function readEntries(
  reader: Reader,
  session: string,
  branch: string,
  from: number,
  to: number,
): Promise<Entry[]> {
  const plan = await reader.read((sql) => {
    const found = findBranch(sql, session, branch);
    return found === undefined ? [] : stretches(sql, found, from, Math.min(to, lengthOf(sql, found)));
  });
  const entries: Entry[] = [];
  for (const stretch of plan) {
    for (let position = stretch.from; position < stretch.to; ) {
      const next = position;
      const rows = await reader.read((sql) => entryRows(sql, stretch, next, PAGE));
      if (rows.length === 0) break;
      for (const row of rows) {
        entries.push(await reader.read((sql) => entryOf(sql, row)));
        await reader.breath();
      }
      position = rows[rows.length - 1]!.position + 1;
    }
  }
  return entries;
}

export async function readEvents(reader: Reader, loopId: string, from: number): Promise<LoopEvent[]> {
  const plan = await reader.read((sql) => {
    const loop = sql.get<{ ref: number }>("SELECT ref FROM loops WHERE loop_id = ?", loopId);
    return loop === undefined ? undefined : { ref: loop.ref, stretches: visibleEvents(sql, loop.ref) };
  });
  const events: LoopEvent[] = [];
  if (plan === undefined) return events;
  for (const stretch of plan.stretches) {
    for (let sequence = Math.max(from, stretch.from); sequence < stretch.to; ) {
      const next = sequence;
      const page = await reader.read((sql) => eventRows(sql, { ref: plan.ref, loopId }, stretch, next, PAGE));
      if (page.length === 0) break;
      events.push(...page);
      await reader.breath();
      sequence = page[page.length - 1]!.sequence + 1;
    }
  }
  return events;
}

/** All rows of a table that is read by ascending `ref`. */
export async function readPages<T>(
  reader: Reader,
  page: (sql: Sql, behind: number, limit: number) => { ref: number; record: T }[],
): Promise<T[]> {
  const records: T[] = [];
  for (let behind = 0; ; ) {
    const after = behind;
    const rows = await reader.read((sql) => page(sql, after, PAGE));
    records.push(...rows.map((row) => row.record));
    if (rows.length < PAGE) return records;
    behind = rows[rows.length - 1]!.ref;
    await reader.breath();
  }
}
