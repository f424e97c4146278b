import type { SearchQuery } from "../archive.ts";
import { parseSearchTerms, type SearchTerm } from "../search-text.ts";
import { decodeMessage } from "./checksums.ts";
import { readText } from "./contents.ts";
import { buildConditions, type ListedRow } from "./list-page.ts";
import { encodeRowId, indexEntry, POSITIONS } from "./search-index.ts";
import { all, exec, get, type Value, type Work } from "./statement.ts";

// Full-text search over messages.

type FoundRow = ListedRow & { readonly rowId: number; readonly branch: string };

export type FoundPosition = { readonly row: FoundRow; readonly position: number };

/** Finds entries that contain all words, the newest first. @param after - Only entries below this row id. */
export function* findMatches(query: SearchQuery, after: number): Work<readonly FoundPosition[]> {
  const { where, values } = buildConditions(query);
  const text = (match: string) =>
    `SELECT search_index.rowid AS "rowId", branches.id AS branch, sessions.*
     FROM search_index JOIN branches ON branches.ref = search_index.rowid / ${POSITIONS}
       JOIN sessions ON sessions.id = branches.session
     WHERE ${match} AND search_index.rowid < ? AND ${where}
     ORDER BY search_index.rowid DESC LIMIT ?`;
  const terms = parseSearchTerms(query.terms);
  if (terms.length === 0) return [];
  const rest: Value[] = [after, ...values, query.limit];
  const rows = (yield {
    text: text("search_index MATCH ?"),
    postgres: text("search_index.text @@ to_tsquery('simple', ?)"),
    values: [toSqliteQuery(terms), ...rest],
    valuesForPostgres: [toPostgresQuery(terms), ...rest],
    returns: "rows",
  }) as readonly FoundRow[];
  return rows.map((row) => ({ row, position: row.rowId % POSITIONS }));
}

/** Greater than every row id. */
export const FROM_THE_NEWEST = Number.MAX_SAFE_INTEGER;

function toSqliteQuery(terms: readonly SearchTerm[]): string {
  return terms.map(({ words: parts, isPrefix }) => `"${parts.join(" ")}"${isPrefix ? "*" : ""}`).join(" ");
}

function toPostgresQuery(terms: readonly SearchTerm[]): string {
  const term = ({ words, isPrefix }: SearchTerm) =>
    `(${words.map((word, index) => `'${word}'${isPrefix && index === words.length - 1 ? ":*" : ""}`).join(" <-> ")})`;
  return terms.map(term).join(" & ");
}

type FillRow = { readonly branch: number; readonly position: number; readonly last: number };

/**
 * Indexes a page of entries that were written before the index existed. Later entries are already indexed.
 *
 * @returns Whether all entries are indexed.
 */
export function* fillSearchIndex(limit: number): Work<boolean> {
  const at = yield* get<FillRow>("SELECT branch, position, last FROM search_index_progress");
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
    const rowId = encodeRowId(branch, position);
    const known = yield* get("SELECT 1 AS there FROM search_index WHERE rowid = ?", rowId);
    if (known !== undefined) continue;
    const text = decodeMessage(row) ?? (yield* readText(content!)) ?? "null";
    yield* indexEntry(branch, position, JSON.parse(text));
  }
  const last = rows.at(-1);
  if (last === undefined) yield* exec("DELETE FROM search_index_progress");
  else yield* exec("UPDATE search_index_progress SET branch = ?, position = ?", last.branch, last.position);
  return last === undefined;
}
