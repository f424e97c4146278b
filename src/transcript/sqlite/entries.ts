import { estimateMessage } from "../../core/estimate.ts";
import type { Entry, EntryOrigin } from "../../schema/record.ts";
import type { NewEntry } from "../write.ts";
import type { Branch, Stretch } from "./branches.ts";
import { putContent, textOf } from "./contents.ts";
import { json, type Sql } from "./sql.ts";

/** Messages whose JSON is longer than this lie in `contents`, once each. */
const INLINE_BYTES = 2048;

/** Writes entries to a branch that `branchForRun` has found; what is there already stays. */
export function putEntries(
  sql: Sql,
  session: string,
  start: Branch,
  run: string,
  entries: readonly NewEntry[],
): Branch {
  let branch = start;
  for (const entry of entries) {
    if (branch.parent !== null && entry.position < branch.position) continue;
    const there = sql.get(
      "SELECT 1 AS there FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      entry.position,
    );
    if (there === undefined) branch = insert(sql, session, branch, run, entry);
  }
  return advance(sql, branch, start);
}

function insert(sql: Sql, session: string, branch: Branch, run: string, entry: NewEntry): Branch {
  const tokens = estimateMessage(entry.message);
  const message = json(entry.message);
  const large = Buffer.byteLength(message) > INLINE_BYTES;
  const next = entry.position === branch.length;
  sql.run(
    `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    branch.ref,
    entry.position,
    run,
    entry.origin,
    entry.messageId ?? null,
    tokens,
    next ? branch.tokens : null,
    large ? null : message,
    large ? putContent(sql, message) : null,
  );
  if (entry.messageId !== undefined) {
    sql.run(
      "INSERT INTO message_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
      session,
      entry.messageId,
    );
  }
  return next ? { ...branch, length: branch.length + 1, tokens: branch.tokens + tokens } : branch;
}

/** Moves the end of the unbroken prefix over entries that were waiting behind a gap, and writes it down. */
export function advance(sql: Sql, branch: Branch, written: Branch = branch): Branch {
  let { length, tokens } = branch;
  for (;;) {
    const next = sql.get<{ tokens: number }>(
      "SELECT tokens FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      length,
    );
    if (next === undefined) break;
    sql.run(
      "UPDATE entries SET tokens_before = ? WHERE branch = ? AND position = ?",
      tokens,
      branch.ref,
      length,
    );
    length += 1;
    tokens += next.tokens;
  }
  if (length !== written.length) {
    sql.run("UPDATE branches SET length = ?, tokens = ? WHERE ref = ?", length, tokens, branch.ref);
  }
  return { ...branch, length, tokens };
}

type EntryRow = {
  position: number;
  origin: EntryOrigin;
  message_id: string | null;
  tokens: number;
  message: string | null;
  content: string | null;
};

/** The rows of one stretch from `from` on, at most `limit`. */
export function entryRows(sql: Sql, stretch: Stretch, from: number, limit: number): EntryRow[] {
  return sql.all<EntryRow>(
    `SELECT position, origin, message_id, tokens, message, content FROM entries
     WHERE branch = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`,
    stretch.branch,
    from,
    stretch.to,
    limit,
  );
}

export function entryOf(sql: Sql, row: EntryRow): Entry {
  const message = row.message ?? textOf(sql, row.content!)!;
  return {
    position: row.position,
    origin: row.origin,
    message: JSON.parse(message),
    tokens: row.tokens,
    ...(row.message_id === null ? {} : { messageId: row.message_id }),
  };
}
