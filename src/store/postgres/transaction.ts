import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { buildCommitSql, type CommitAttempt } from "./commit-tokens.ts";
import type { Connection } from "./connection-pool.ts";
import type { SchemaPart } from "./migrate.ts";
import { isAnswer } from "./postgres-error.ts";
import { encodeValue, numberPlaceholders, type Value } from "./values.ts";

/** One statement; a `?` for each value, in order. */
export type Statement = {
  readonly text: string;
  readonly values: readonly Value[];
  readonly returns: "row" | "rows" | "nothing";
  /** The statement for PostgreSQL, if its syntax differs. */
  readonly postgres?: string;
  readonly valuesForPostgres?: readonly Value[];
};

/** Yields one statement after the other, and receives the rows of each. */
export type Work<Result> = Generator<Statement, Result, readonly unknown[]>;

/** How long a transaction may block the main thread before it yields. */
const SLICE_MS = 8;
/** The maximum number of pending statements: each holds its values in memory. */
const MAX_PENDING = 64;
/** The maximum number of prepared statements of a connection. Only composed statements could exceed it. */
const MAX_PREPARED = 300;

/** The server has rejected a statement, or was unreachable. `cause` is the driver's error. */
export class StatementError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The connection was lost between the commit and its answer. */
export class UnknownOutcomeError extends Error {
  readonly attempt: CommitAttempt;
  /** The result of the transaction, if it was committed. */
  readonly value: unknown;

  constructor(attempt: CommitAttempt, value: unknown, cause: unknown) {
    super("The connection was lost while a transaction was being committed", { cause });
    this.attempt = attempt;
    this.value = value;
  }
}

const preparedByConnection = new WeakMap<object, Set<string>>();

/**
 * One transaction on one connection. Statements without a result are sent without waiting for the answer. The first
 * failure is thrown, wherever it is noticed.
 */
export class Transaction {
  readonly #connection: Connection;
  readonly #prepares: boolean;
  readonly #startRow: Promise<pg.QueryResult | pg.QueryResult[]>;
  readonly #pending = new Set<Promise<unknown>>();
  #failure: StatementError | undefined;

  /** @param begin - Several statements, sent as one message. */
  constructor(connection: Connection, begin: string, prepares: boolean) {
    this.#connection = connection;
    this.#prepares = prepares;
    this.#startRow = this.#noteFailure(connection.query(begin) as Promise<pg.QueryResult | pg.QueryResult[]>);
  }

  /** Returns the row of the last statement of `begin`. */
  async getStartRow<Row>(): Promise<Row> {
    const results = [await this.#startRow].flat();
    return results.at(-1)!.rows[0] as Row;
  }

  /** Runs work to its end. Errors of the work pass unchanged. */
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
      returns,
      postgres: text = statement.text,
      valuesForPostgres: values = statement.values,
    } = statement;
    if (this.#failure !== undefined) throw this.#failure;
    const answer = this.#send(numberPlaceholders(text), values);
    if (returns === "nothing" && this.#pending.size < MAX_PENDING) return NO_ROWS;
    const { rows } = await answer;
    return returns === "nothing" ? NO_ROWS : rows;
  }

  /** @throws UnknownOutcomeError if this connection cannot tell whether the transaction was committed. */
  async commit(part: SchemaPart["name"], attempt: CommitAttempt, value: unknown): Promise<void> {
    try {
      await this.#connection.query(buildCommitSql(part, attempt));
    } catch (error) {
      await Promise.allSettled(this.#pending);
      // A pending statement has failed: the transaction stores no token and is rolled back.
      if (isAnswer(error)) throw this.#failure ?? new StatementError(error);
      // A connection that was lost before the commit was sent also ends here; then there is no token.
      throw new UnknownOutcomeError(attempt, value, error);
    }
  }

  /** Rolls the transaction back. Resolves with whether the connection can be reused. */
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
    const query = { text, values: values.map(encodeValue), ...omitUndefined({ name }) };
    return this.#noteFailure(this.#connection.query(query));
  }

  /** Records the first failure: statements fail in order, so it is the cause of all later failures. */
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

/** Continues work that has already yielded its first statement. */
export function* resumeWork<T>(first: IteratorYieldResult<Statement>, work: Work<T>): Work<T> {
  let step: IteratorResult<Statement, T> = first;
  while (step.done !== true) {
    let rows: readonly unknown[];
    try {
      rows = yield step.value;
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(rows);
  }
  return step.value;
}
