import type { ValueToEncrypt } from "./encrypted-columns.ts";

/** A value of a column. */
export type Value = string | number | null | Buffer;
/** A value in a statement of work, before encryption. */
export type StatementValue = Value | ValueToEncrypt;

/** One statement; a `?` for each value, in order. */
export type Statement<Holds = Value> = {
  readonly text: string;
  readonly values: readonly Holds[];
  /** The result: the first row, if any, all rows, or nothing. */
  readonly returns: "row" | "rows" | "nothing";
  /** The statement for PostgreSQL, if its syntax differs. */
  readonly postgres?: string;
  readonly valuesForPostgres?: readonly Value[];
  /** Writes plain text of a conversation to the search index; skipped if the store is encrypted. */
  readonly isSearchText?: true;
};

/**
 * Work on a database, in SQL that every engine supports: it yields one statement after the other and receives the rows of
 * each. The engine decides whether it runs synchronously, so that one implementation serves all engines.
 */
export type Work<Result> = Generator<Statement<StatementValue>, Result, readonly unknown[]>;
/** Work as engines run it: `EncryptedColumns` has encrypted its private values. */
export type EncryptedWork<Result> = Generator<Statement, Result, readonly unknown[]>;

export function* get<Row>(text: string, ...values: StatementValue[]): Work<Row | undefined> {
  return (yield { text, values, returns: "row" })[0] as Row | undefined;
}

export function* all<Row>(text: string, ...values: StatementValue[]): Work<readonly Row[]> {
  return (yield { text, values, returns: "rows" }) as readonly Row[];
}

export function* exec(text: string, ...values: StatementValue[]): Work<void> {
  yield { text, values, returns: "nothing" };
}

export function json(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
