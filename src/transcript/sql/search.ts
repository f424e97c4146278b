import { type SearchTerm, searchTerms } from "../../core/search-text.ts";
import type { SearchQuery } from "../archive.ts";
import { messageIn } from "./checksums.ts";
import { textOf } from "./contents.ts";
import { conditionsOf, type ListedRow } from "./listing.ts";
import { indexEntry, POSITIONS, placeOf } from "./search-index.ts";
import { all, exec, get, type Value, type Work } from "./statement.ts";

// Full text over messages.

type FoundRow = ListedRow & { readonly place: number; readonly branch: string };

export type Found = { readonly row: FoundRow; readonly position: number };

/** Entries that hold all words, the newest session first. @param behind - Only what lies below this place. */
export function* findWords(query: SearchQuery, behind: number): Work<readonly Found[]> {
  const { where, values } = conditionsOf(query);
  const text = (match: string) =>
    `SELECT search_words.rowid AS place, branches.id AS branch, sessions.*
     FROM search_words JOIN branches ON branches.ref = search_words.rowid / ${POSITIONS}
       JOIN sessions ON sessions.id = branches.session
     WHERE ${match} AND search_words.rowid < ? AND ${where}
     ORDER BY search_words.rowid DESC LIMIT ?`;
  const terms = searchTerms(query.words);
  if (terms.length === 0) return [];
  const rest: Value[] = [behind, ...values, query.limit];
  const rows = (yield {
    text: text("search_words MATCH ?"),
    postgres: text("search_words.words @@ to_tsquery('simple', ?)"),
    values: [forSqlite(terms), ...rest],
    valuesForPostgres: [forPostgres(terms), ...rest],
    gives: "rows",
  }) as readonly FoundRow[];
  return rows.map((row) => ({ row, position: row.place % POSITIONS }));
}

/** Nothing is below it that is not there. */
export const FROM_THE_NEWEST = Number.MAX_SAFE_INTEGER;

function forSqlite(terms: readonly SearchTerm[]): string {
  return terms.map(({ words, isBeginning }) => `"${words.join(" ")}"${isBeginning ? "*" : ""}`).join(" ");
}

function forPostgres(terms: readonly SearchTerm[]): string {
  const term = ({ words, isBeginning }: SearchTerm) =>
    `(${words.map((word, index) => `'${word}'${isBeginning && index === words.length - 1 ? ":*" : ""}`).join(" <-> ")})`;
  return terms.map(term).join(" & ");
}

type FillRow = { readonly branch: number; readonly position: number; readonly last: number };

/**
 * Indexes a page of what was written before there was an index. What came later is there already.
 *
 * @returns Whether there is nothing left to do.
 */
export function* fillSearch(limit: number): Work<boolean> {
  const at = yield* get<FillRow>("SELECT branch, position, last FROM search_fill");
  if (at === undefined) return true;
  const rows = yield* all<{
    branch: number;
    position: number;
    run: string;
    origin: string;
    message_id: string | null;
    message: string | null;
    content: string | null;
  }>(
    `SELECT branch, position, run, origin, message_id, message, content FROM entries
     WHERE (branch = ? AND position > ?) OR (branch > ? AND branch <= ?) ORDER BY branch, position LIMIT ?`,
    at.branch,
    at.position,
    at.branch,
    at.last,
    limit,
  );
  for (const row of rows) {
    const { branch, position, content } = row;
    const place = placeOf(branch, position);
    const known = yield* get("SELECT 1 AS there FROM search_words WHERE rowid = ?", place);
    if (known !== undefined) continue;
    const text = messageIn(row) ?? (yield* textOf(content!)) ?? "null";
    yield* indexEntry(branch, position, JSON.parse(text));
  }
  const last = rows.at(-1);
  if (last === undefined) yield* exec("DELETE FROM search_fill");
  else yield* exec("UPDATE search_fill SET branch = ?, position = ?", last.branch, last.position);
  return last === undefined;
}
