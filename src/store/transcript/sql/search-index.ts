import type { AgentMessage } from "../../../schema/message.ts";
import { getSearchText } from "../search-text.ts";
import { exec, type Work } from "./statement.ts";

// The index of words: filled in the transaction that writes an entry. The messages stay where they are.

/** An entry's place as one number, so that the index needs no table beside it; below 2^53 for 2^29 branches. */
export const POSITIONS = 2 ** 24;

export const encodeRowId = (branch: number, position: number): number => branch * POSITIONS + position;

/** The words of an entry; those of a message without any are nothing. */
export function* indexEntry(branch: number, position: number, message: AgentMessage): Work<void> {
  const text = getSearchText(message);
  if (text === "") return;
  yield {
    text: "INSERT INTO search_words (rowid, words) VALUES (?, ?)",
    postgres:
      "INSERT INTO search_words (rowid, words) VALUES (?, to_tsvector('simple', ?)) ON CONFLICT DO NOTHING",
    values: [encodeRowId(branch, position), text],
    gives: "nothing",
    plain: true,
  };
}

/** Those of a branch's entries below a position. */
export function* deleteIndexed(branch: number, end: number): Work<void> {
  yield* exec(
    "DELETE FROM search_words WHERE rowid >= ? AND rowid < ?",
    encodeRowId(branch, 0),
    encodeRowId(branch, end),
  );
}
