import type { AgentMessage } from "../../../schema/message.ts";
import { getSearchText } from "../search-text.ts";
import { exec, type Work } from "./statement.ts";

// The search index. The transaction that writes an entry also indexes it. The messages stay in their own tables.

/** Positions per branch in a row id, so that one number identifies an entry; below 2^53 for 2^29 branches. */
export const POSITIONS = 2 ** 24;

export const encodeRowId = (branch: number, position: number): number => branch * POSITIONS + position;

/** Indexes the text of an entry. A message without text is skipped. */
export function* indexEntry(branch: number, position: number, message: AgentMessage): Work<void> {
  const text = getSearchText(message);
  if (text === "") return;
  yield {
    text: "INSERT INTO search_index (rowid, text) VALUES (?, ?)",
    postgres:
      "INSERT INTO search_index (rowid, text) VALUES (?, to_tsvector('simple', ?)) ON CONFLICT DO NOTHING",
    values: [encodeRowId(branch, position), text],
    returns: "nothing",
    isSearchText: true,
  };
}

/** Deletes a branch's indexed entries below a position. */
export function* deleteIndexed(branch: number, end: number): Work<void> {
  yield* exec(
    "DELETE FROM search_index WHERE rowid >= ? AND rowid < ?",
    encodeRowId(branch, 0),
    encodeRowId(branch, end),
  );
}
