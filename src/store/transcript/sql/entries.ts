import { estimateMessage } from "../../../core/view/estimate.ts";
import type { AgentMessage } from "../../../schema/message.ts";
import type { Entry, EntryOrigin } from "../../../schema/record.ts";
import type { NewEntry } from "../store-write.ts";
import type { BranchRange, BranchRow } from "./branches.ts";
import { decodeMessage, encodeMessage } from "./checksums.ts";
import { createAheadError } from "./consistency-errors.ts";
import { putContent, readText } from "./contents.ts";
import { linkData, loadMessageData, separateMessageData } from "./message-data.ts";
import { indexEntry } from "./search-index.ts";
import { all, exec, get, json, type Work } from "./statement.ts";
import { keepParts } from "./texts.ts";

/** Messages with longer JSON are stored in `contents`, once each. */
const INLINE_BYTES = 2048;

/** Writes entries to a branch that `resolveRunBranch` has found. Existing entries are unchanged. */
export function* putEntries(
  session: string,
  start: BranchRow,
  run: string,
  entries: readonly NewEntry[],
): Work<BranchRow> {
  let branch = start;
  for (const entry of entries) {
    if (branch.parent !== null && entry.position < branch.position) continue;
    const existing = yield* get<{ message_id: string | null }>(
      "SELECT message_id FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      entry.position,
    );
    if (existing !== undefined && existing.message_id !== (entry.messageId ?? null)) {
      throw createAheadError(`entry ${entry.position} of branch ${branch.id} is another message`);
    }
    if (existing === undefined) branch = yield* insertEntry(session, branch, run, entry);
  }
  return entries.length === 0 ? branch : yield* advanceEnd(branch, start);
}

function* insertEntry(session: string, branch: BranchRow, run: string, entry: NewEntry): Work<BranchRow> {
  const tokens = estimateMessage(entry.message);
  const separated = yield* separateMessageData(entry.message);
  const message = json(separated.message);
  // Data is owned by the text that refers to it, which therefore is one of its own.
  const large = separated.hashes.length > 0 || Buffer.byteLength(message) > INLINE_BYTES;
  const content = large ? yield* putContent(message) : null;
  if (content !== null) yield* linkData(content, separated.hashes);
  const next = entry.position === branch.length;
  yield* exec(
    `INSERT INTO entries (branch, position, run, origin, message_id, tokens, tokens_before, message, content)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    branch.ref,
    entry.position,
    run,
    entry.origin,
    entry.messageId ?? null,
    tokens,
    next ? branch.tokens : null,
    large ? null : encodeMessage(message, { ...entry, run, message_id: entry.messageId ?? null }),
    content,
  );
  if (entry.parts !== undefined) yield* keepParts(session, entry.parts);
  yield* indexEntry(branch.ref, entry.position, entry.message);
  if (entry.messageId !== undefined) {
    yield* exec(
      "INSERT INTO message_ids (session, id) VALUES (?, ?) ON CONFLICT DO NOTHING",
      session,
      entry.messageId,
    );
  }
  return next ? { ...branch, length: branch.length + 1, tokens: branch.tokens + tokens } : branch;
}

/** Moves the end of the prefix without gaps past entries that followed a gap, and stores it. */
export function* advanceEnd(branch: BranchRow, written: BranchRow = branch): Work<BranchRow> {
  let { length, tokens } = branch;
  for (;;) {
    const next = yield* get<{ tokens: number }>(
      "SELECT tokens FROM entries WHERE branch = ? AND position = ?",
      branch.ref,
      length,
    );
    if (next === undefined) break;
    yield* exec(
      "UPDATE entries SET tokens_before = ? WHERE branch = ? AND position = ?",
      tokens,
      branch.ref,
      length,
    );
    length += 1;
    tokens += next.tokens;
  }
  if (length !== written.length) {
    yield* exec("UPDATE branches SET length = ?, tokens = ? WHERE ref = ?", length, tokens, branch.ref);
  }
  return { ...branch, length, tokens };
}

export type EntryRow = {
  run: string;
  position: number;
  origin: EntryOrigin;
  message_id: string | null;
  tokens: number;
  message: string | null;
  content: string | null;
};

/** Reads the rows of one range from `from` on, at most `limit`. */
export function* readEntryRows(range: BranchRange, from: number, limit: number): Work<readonly EntryRow[]> {
  return yield* all<EntryRow>(
    `SELECT run, position, origin, message_id, tokens, message, content FROM entries
     WHERE branch = ? AND position >= ? AND position < ? ORDER BY position LIMIT ?`,
    range.branch,
    from,
    range.to,
    limit,
  );
}

/** @param data - `reference`: images and files have references in place of their data. */
export function* toEntry(row: EntryRow, data: "whole" | "reference" = "whole"): Work<Entry> {
  if (row.content === null) return toInlineEntry(row);
  const stored = JSON.parse((yield* readText(row.content))!) as AgentMessage;
  return buildEntry(row, data === "whole" ? yield* loadMessageData(stored) : stored);
}

/** Converts a row whose message is not stored in `contents`. */
export function toInlineEntry(row: EntryRow): Entry {
  return buildEntry(row, JSON.parse(decodeMessage(row)!) as AgentMessage);
}

function buildEntry(row: EntryRow, message: AgentMessage): Entry {
  return {
    position: row.position,
    origin: row.origin,
    message,
    tokens: row.tokens,
    ...(row.message_id === null ? {} : { messageId: row.message_id }),
  };
}
