/** What a column holds, and what a statement may be given. */
export type Value = string | number | null | Buffer;

/** One statement; a `?` for each value, in order. */
export type Statement = {
  readonly text: string;
  readonly values: readonly Value[];
  /** What it gives: its first row, if there is one, all rows, or nothing. */
  readonly gives: "row" | "rows" | "nothing";
  /** The same for PostgreSQL, where its words differ; and its values, where these do. */
  readonly postgres?: string;
  readonly valuesForPostgres?: readonly Value[];
  /** It puts words of a conversation where they can be searched for: an engine that seals them leaves it out. */
  readonly plain?: true;
};

/**
 * Work on a database, in SQL that every engine of ours understands: it asks for one statement after the other and is
 * given the rows of each. Whether that takes time is the engine's affair, so that there is one way of thinking for all.
 */
export type Work<Result> = Generator<Statement, Result, readonly unknown[]>;

export function* get<Row>(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield { text, values, gives: "row" })[0] as Row | undefined;
}

export function* all<Row>(text: string, ...values: Value[]): Work<readonly Row[]> {
  return (yield { text, values, gives: "rows" }) as readonly Row[];
}

export function* exec(text: string, ...values: Value[]): Work<void> {
  yield { text, values, gives: "nothing" };
}

export function json(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
