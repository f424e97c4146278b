import { setTimeout as sleep } from "node:timers/promises";
import { computePauseMs, randomisePauseMs } from "../../platform/async/back-off.ts";
import { buildGiveUpSql, buildTerminateSql, type CommitAttempt, createToken } from "./commit-tokens.ts";
import { type Connection, type ConnectionLimits, ConnectionPool } from "./connection-pool.ts";
import type { DatabaseTarget } from "./database-target.ts";
import { KeyedMutex, listLockNumbers } from "./locks.ts";
import { createVersionError, migrateSchema, type SchemaPart } from "./migrate.ts";
import { createPostgresError, diagnose, getErrorMessage, PostgresError } from "./postgres-error.ts";
import { resumeWork, StatementError, Transaction, UnknownOutcomeError, type Work } from "./transaction.ts";
import { TransactionOpening, type TransactionStart } from "./transaction-opening.ts";

export type DatabaseOptions = {
  readonly target: DatabaseTarget;
  readonly part: SchemaPart;
  /** How long operations are retried after a lost server, a deadlock and the like. */
  readonly deadlineMs?: number | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
  readonly maxConnections?: number | undefined;
};

const DEADLINE_MS = 10_000;
const LIMITS: ConnectionLimits = { statementMs: 30_000, lockMs: 10_000, idleMs: 30_000 };
const BACK_OFF = { firstMs: 25, longestMs: 1_000 };
/** The shortest limit of a write's wait for earlier writes. An unreachable server must not delay a whole queue of them. */
const MIN_WAIT_MS = 1_000;
/** The maximum number of consecutive conflicts with other transactions. */
const MAX_CONFLICTS = 10;

/**
 * One schema of one PostgreSQL database.
 *
 * A write is one transaction at READ COMMITTED that first takes its locks, so that it sees what a single writer would see.
 * It takes effect once, whatever happens to the connection: a write that was certainly not committed is retried, and if
 * the connection is lost during the commit, the write is given up unless it was committed (`commit-tokens.ts`).
 */
export class Database {
  readonly name: string;
  readonly #target: DatabaseTarget;
  readonly #part: SchemaPart;
  readonly #deadlineMs: number;
  readonly #connections: ConnectionPool;
  readonly #mutex = new KeyedMutex();
  readonly #opening: TransactionOpening;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  private constructor(options: DatabaseOptions) {
    const { target, part, deadlineMs = DEADLINE_MS } = options;
    const limits = { ...LIMITS, ...options.limits };
    this.name = target.name;
    this.#target = target;
    this.#part = part;
    this.#deadlineMs = deadlineMs;
    this.#connections = new ConnectionPool(target, limits, options.maxConnections ?? target.maxConnections);
    this.#opening = new TransactionOpening(target.schema, part, limits);
  }

  /** Connects, and migrates the part's tables to their newest version. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const database = new Database(options);
    try {
      await database.#retryUntil("opened", database.#getDeadline(), async () => {
        const connection = await database.#connect();
        let whole = false;
        try {
          await migrateSchema(connection, options.target, options.part);
          whole = true;
        } catch (error) {
          throw error instanceof PostgresError ? error : new StatementError(error);
        } finally {
          connection.release(!whole);
        }
      });
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** @param work - Restarted on a retry. Each attempt sees one consistent state of the whole database. */
  read<T>(work: () => Work<T>): Promise<T> {
    return this.#recordBegin(() => this.#retryUntil("read", this.#getDeadline(), () => this.#readOnce(work)));
  }

  /** @param names - What to lock against other writers; `everything` if this is not known in advance. */
  write<T>(names: readonly string[] | "everything", work: () => Work<T>): Promise<T> {
    const numbers = names === "everything" ? [] : listLockNumbers(this.#target.schema, names);
    const begin = this.#opening.buildWriteSql(names === "everything" ? names : numbers);
    const beganMs = performance.now();
    const deadline = beganMs + this.#deadlineMs;
    return this.#recordBegin(() =>
      this.#mutex.runExclusive(numbers, () => {
        const waitedMs = Math.round(performance.now() - beganMs);
        if (waitedMs > Math.max(this.#deadlineMs, MIN_WAIT_MS)) {
          const problem = `it could not be written to: earlier writes took ${waitedMs} ms`;
          throw createPostgresError("busy", this.name, problem);
        }
        return this.#retryUntil("written to", deadline, () => this.#writeOnce(begin, work));
      }),
    );
  }

  async #recordBegin<T>(begin: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new PostgresError("other", `PostgreSQL ${this.name} was closed.`);
    const work = begin();
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  #getDeadline(): number {
    return performance.now() + this.#deadlineMs;
  }

  async #connect(): Promise<Connection> {
    try {
      return await this.#connections.connect();
    } catch (error) {
      throw new StatementError(error);
    }
  }

  /** Waits for running operations and rejects later ones. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#connections.close();
  }

  async #readOnce<T>(begin: () => Work<T>): Promise<T> {
    const work = begin();
    // Work without statements needs no connection.
    const first = work.next();
    if (first.done === true) return first.value;
    const connection = await this.#connect();
    const transaction = new Transaction(
      connection,
      this.#opening.readSql,
      this.#target.usesPreparedStatements,
    );
    let value: T;
    try {
      value = await transaction.runWork(resumeWork(first, work));
    } catch (error) {
      connection.release(!(await transaction.rollBack()));
      throw error;
    }
    void transaction.rollBack().then((whole) => connection.release(!whole));
    return value;
  }

  async #writeOnce<T>(begin: string, work: () => Work<T>): Promise<T> {
    const connection = await this.#connect();
    const transaction = new Transaction(connection, begin, this.#target.usesPreparedStatements);
    let whole = false;
    try {
      const value = await transaction.runWork(work());
      const { version, startedAtMs, startedAt, pid } = await transaction.getStartRow<TransactionStart>();
      if (version > this.#part.steps.length) throw createVersionError(this.name, this.#part, version);
      await transaction.commit(this.#part.name, { token: createToken(), startedAtMs, startedAt, pid }, value);
      whole = true;
      return value;
    } catch (error) {
      whole = !(error instanceof UnknownOutcomeError) && (await transaction.rollBack());
      throw error;
    } finally {
      connection.release(!whole);
    }
  }

  /** Retries until it succeeds, a retry is useless, or the deadline has passed. */
  async #retryUntil<T>(operation: string, deadline: number, attempt: () => Promise<T>): Promise<T> {
    let conflicts = 0;
    for (let failures = 1; ; failures += 1) {
      let failure: unknown;
      try {
        return await attempt();
      } catch (error) {
        failure = error;
      }
      if (failure instanceof UnknownOutcomeError) {
        if (await this.#checkCommitted(failure, deadline)) return failure.value as T;
        continue;
      }
      if (!(failure instanceof StatementError)) throw failure;
      const { cause } = failure;
      const { fault, retry: again } = diagnose(cause);
      if (again === "at-once") conflicts += 1;
      const pauseMs = computePauseMs(BACK_OFF, failures);
      const isOver = this.#closed || performance.now() + pauseMs > deadline || conflicts > MAX_CONFLICTS;
      if (again === "never" || isOver) {
        const tried = again === "never" ? "" : `, after retries for ${this.#deadlineMs} ms`;
        throw createPostgresError(
          fault,
          this.name,
          `it could not be ${operation}: ${getErrorMessage(cause)}${tried}`,
          cause,
        );
      }
      // Random, so that waiting processes do not stay synchronised.
      await sleep(randomisePauseMs(pauseMs));
    }
  }

  /**
   * Checks whether a write whose connection was lost during its commit was committed. If not, it can no longer be committed.
   */
  async #checkCommitted({ attempt, cause }: UnknownOutcomeError, deadline: number): Promise<boolean> {
    for (let failures = 1; ; failures += 1) {
      let refusal: unknown;
      try {
        return await this.#giveUpCommit(attempt);
      } catch (error) {
        if (error instanceof PostgresError) throw error;
        refusal = error;
      }
      const pauseMs = computePauseMs(BACK_OFF, failures);
      if (performance.now() + pauseMs > deadline) {
        const answer = `its outcome could not be determined for ${this.#deadlineMs} ms`;
        const what = `the connection was lost during a commit, and ${answer}: ${getErrorMessage(refusal)}`;
        throw createPostgresError("unreachable", this.name, what, cause);
      }
      await sleep(pauseMs);
    }
  }

  async #giveUpCommit(attempt: CommitAttempt): Promise<boolean> {
    const connection = await this.#connections.connect();
    let whole = false;
    try {
      await connection.query(buildTerminateSql(attempt));
      const [insert, select] = buildGiveUpSql(this.#part.name, attempt);
      await connection.query(`${this.#opening.giveUpSql}; ${insert}`);
      const { rows } = await connection.query(select!);
      await connection.query("SET LOCAL statement_timeout = 0; COMMIT");
      whole = true;
      const [found] = rows as { committed: number }[];
      if (found !== undefined) return found.committed === 1;
    } finally {
      connection.release(!whole);
    }
    const what = "the connection was lost during a commit, too long ago to determine its outcome";
    throw createPostgresError("unreachable", this.name, what);
  }
}
