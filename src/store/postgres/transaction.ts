import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import { buildCommitSql, type CommitAttempt } from "./commit-tokens.ts";
import type { Connection } from "./connection-pool.ts";
import type { SchemaPart } from "./migrate.ts";
import { isAnswer } from "./postgres-error.ts";
import { encodeValue, numberPlaceholders, type Value } from "./values.ts";

/** One statement; a `?` for each value, in order. */
export type Statement = {
  readonly text: string;
  readonly values: readonly Value[];
  readonly gives: "row" | "rows" | "nothing";
  /** In its stead, where this server's words differ; and its values, where these do. */
  readonly postgres?: string;
  readonly valuesForPostgres?: readonly Value[];
};

/** Asks for one statement after the other, and is given the rows of each. */
export type Work<Result> = Generator<Statement, Result, readonly unknown[]>;

/** How long a transaction may hold the main thread before it lets others run. */
const SLICE_MS = 8;
/** Statements that may be under way at once: each holds its values in memory. */
const MAX_PENDING = 64;
/** Statements that a connection keeps prepared; they are few, unless they are put together from parts. */
const MAX_PREPARED = 300;

/** The server has refused a statement, or could not be asked. `cause` is what the driver said. */
export class StatementError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The connection was lost between the wish to commit and the answer. */
export class UnknownOutcomeError extends Error {
  readonly attempt: CommitAttempt;
  /** What the transaction has given, if it was committed. */
  readonly value: unknown;

  constructor(attempt: CommitAttempt, value: unknown, cause: unknown) {
    super("The connection was lost while a transaction was being committed", { cause });
    this.attempt = attempt;
    this.value = value;
  }
}

const preparedByConnection = new WeakMap<object, Set<string>>();

/**
 * One transaction on one connection. What gives nothing is sent without waiting for its answer; the first failure is
 * the one that is thrown, wherever it shows.
 */
export class Transaction {
  readonly #connection: Connection;
  readonly #prepares: boolean;
  readonly #startRow: Promise<pg.QueryResult | pg.QueryResult[]>;
  readonly #pending = new Set<Promise<unknown>>();
  #failure: StatementError | undefined;

  /** @param begin - Several statements, sent at once. */
  constructor(connection: Connection, begin: string, prepares: boolean) {
    this.#connection = connection;
    this.#prepares = prepares;
    this.#startRow = this.#noteFailure(connection.query(begin) as Promise<pg.QueryResult | pg.QueryResult[]>);
  }

  /** The row of the last statement of its beginning. */
  async getStartRow<Row>(): Promise<Row> {
    const results = [await this.#startRow].flat();
    return results.at(-1)!.rows[0] as Row;
  }

  /** Carries work out to its end. What the work throws passes. */
  async runWork<T>(work: Work<T>): Promise<T> {
    let sliceEndMs = performance.now() + SLICE_MS;
    let step = work.next();
    while (step.done !== true) {
      let rows: readonly unknown[];
      try {
        rows = await this.runStatement(step.value);
      } catch (error) {
        step = work.throw(error);
        continue;
      }
      if (performance.now() > sliceEndMs) {
        await nextTurn();
        sliceEndMs = performance.now() + SLICE_MS;
      }
      step = work.next(rows);
    }
    return step.value;
  }

  async runStatement(statement: Statement): Promise<readonly unknown[]> {
    const {
      gives,
      postgres: text = statement.text,
      valuesForPostgres: values = statement.values,
    } = statement;
    if (this.#failure !== undefined) throw this.#failure;
    const answer = this.#send(numberPlaceholders(text), values);
    if (gives === "nothing" && this.#pending.size < MAX_PENDING) return NO_ROWS;
    const { rows } = await answer;
    return gives === "nothing" ? NO_ROWS : rows;
  }

  /** @throws UnknownFate when nobody can say on this connection whether it was committed. */
  async commit(part: SchemaPart["name"], attempt: CommitAttempt, value: unknown): Promise<void> {
    try {
      await this.#connection.query(buildCommitSql(part, attempt));
    } catch (error) {
      await Promise.allSettled(this.#pending);
      // A statement that was not waited for has failed: the transaction takes no token, and is rolled back.
      if (isAnswer(error)) throw this.#failure ?? new StatementError(error);
      // What was lost before the wish to commit was sent is seen here too; then there is no token.
      throw new UnknownOutcomeError(attempt, value, error);
    }
  }

  /** Ends it without a trace. Resolves with whether the connection is good for others. */
  async rollBack(): Promise<boolean> {
    if (this.#failure !== undefined) return false;
    try {
      await this.#connection.query("ROLLBACK");
      return this.#failure === undefined;
    } catch {
      return false;
    }
  }

  #send(text: string, values: readonly Value[]): Promise<pg.QueryResult> {
    const name = this.#prepares ? this.#getStatementName(text) : undefined;
    const query = { text, values: values.map(encodeValue), ...(name === undefined ? {} : { name }) };
    return this.#noteFailure(this.#connection.query(query));
  }

  /** Statements fail in order: the first failure is the reason of all behind it. */
  #noteFailure<Answer>(sent: Promise<Answer>): Promise<Answer> {
    const answer = sent.then(
      (given) => {
        this.#pending.delete(answer);
        return given;
      },
      (error: unknown) => {
        this.#pending.delete(answer);
        this.#failure ??= new StatementError(error);
        throw this.#failure;
      },
    );
    this.#pending.add(answer);
    answer.catch(() => undefined);
    return answer;
  }

  #getStatementName(text: string): string | undefined {
    const prepared = preparedByConnection.get(this.#connection) ?? new Set();
    preparedByConnection.set(this.#connection, prepared);
    const name = hashStatementName(text);
    if (!prepared.has(name)) {
      if (prepared.size >= MAX_PREPARED) return undefined;
      prepared.add(name);
    }
    return name;
  }
}

const NO_ROWS: readonly unknown[] = [];

const names = new Map<string, string>();

function hashStatementName(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `holdfast_${createHash("sha256").update(text, "utf8").digest("hex").slice(0, 24)}`;
  if (names.size < 4 * MAX_PREPARED) names.set(text, name);
  return name;
}
