import type { ValueToEncrypt } from "./encrypted-columns.ts";

/** What a column holds, and what an engine is given for it. */
export type Value = string | number | null | Buffer;
/** What work gives to a statement. */
export type StatementValue = Value | ValueToEncrypt;

/** One statement; a `?` for each value, in order. */
export type Statement<Holds = Value> = {
  readonly text: string;
  readonly values: readonly Holds[];
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
export type Work<Result> = Generator<Statement<StatementValue>, Result, readonly unknown[]>;
/** The same as engines carry it out: a `Vault` has made sure that nothing private is in it. */
export type EncryptedWork<Result> = Generator<Statement, Result, readonly unknown[]>;

export function* get<Row>(text: string, ...values: StatementValue[]): Work<Row | undefined> {
  return (yield { text, values, gives: "row" })[0] as Row | undefined;
}

export function* all<Row>(text: string, ...values: StatementValue[]): Work<readonly Row[]> {
  return (yield { text, values, gives: "rows" }) as readonly Row[];
}

export function* exec(text: string, ...values: StatementValue[]): Work<void> {
  yield { text, values, gives: "nothing" };
}

export function json(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
