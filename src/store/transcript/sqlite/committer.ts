import { computePauseMs, randomisePauseMs } from "../../../platform/async/back-off.ts";
import { reachKillPoint } from "../../../platform/kill-point.ts";
import { StoreError, type StoreFault } from "../store-error.ts";
import { FileIdentity } from "./file-identity.ts";
import { assertIntact } from "./integrity.ts";
import { checkVersion, createNewerError, LATEST_VERSION, migrateFile, readVersion } from "./migrations.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { createBusyError, toStoreError } from "./sqlite-faults.ts";

/** One operation. If it throws, the other operations of its commit are still written. */
export type Work = (sql: SqliteConnection) => unknown;

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error };

/** Faults that do not concern the file. */
const WRITE_PRAGMAS: ReadonlySet<StoreFault> = new Set(["other", "behind", "ahead"]);

/** The time between two checks of a lock that another process holds. */
const LOCK_BACK_OFF = { firstMs: 0.5, longestMs: 10, factor: 1.5 };

const SETTINGS = `
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA journal_size_limit = 67108864;
`;

/**
 * The one connection of this process that writes.
 *
 * It blocks its thread while it waits, so it needs a thread of its own. After a fault of the file it reopens
 * the file for the next commit.
 */
export class Committer {
  readonly #path: string;
  readonly #busyMs: number;
  readonly #file: FileIdentity;
  readonly #wait = new Int32Array(new SharedArrayBuffer(4));
  #sql: SqliteConnection | undefined;

  constructor(path: string, busyMs: number) {
    this.#path = path;
    this.#busyMs = busyMs;
    this.#file = new FileIdentity(path);
  }

  /** Opens the file and migrates it to the newest version. */
  open(): void {
    try {
      assertIntact(this.#getConnection(), this.#path);
    } catch (error) {
      this.#disconnect();
      throw toStoreError(error, this.#path);
    }
  }

  /** Writes everything in one transaction, with one fsync at its end. */
  commit(works: readonly Work[]): Answer[] {
    try {
      const sql = this.#getConnection();
      reachKillPoint("commit:begin");
      this.#beginWrite(sql);
      const answers = works.map((work, nth) =>
        nth === 0 ? this.#attemptAlone(sql, work) : this.#attempt(sql, work),
      );
      reachKillPoint("commit:end");
      sql.exec("COMMIT");
      reachKillPoint("commit:done");
      return answers;
    } catch (failure) {
      const error = toStoreError(failure, this.#path);
      this.#abandon(error);
      return works.map(() => ({ ok: false, error }));
    }
  }

  /** Closes the file and merges the log into it if no other process uses it. */
  close(): void {
    try {
      this.#sql?.get("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The log stays next to the file, which is equally safe.
    }
    this.#disconnect();
  }

  #disconnect(): void {
    this.#sql?.close();
    this.#sql = undefined;
  }

  /** Runs the first work of a transaction, which needs no savepoint: nothing else is written yet. */
  #attemptAlone(sql: SqliteConnection, work: Work): Answer {
    try {
      return { ok: true, value: work(sql) };
    } catch (failure) {
      const error = this.#assertOwnFault(sql, failure);
      sql.exec("ROLLBACK");
      this.#beginWrite(sql);
      return { ok: false, error };
    }
  }

  #attempt(sql: SqliteConnection, work: Work): Answer {
    sql.run("SAVEPOINT work");
    try {
      const value = work(sql);
      sql.run("RELEASE work");
      return { ok: true, value };
    } catch (failure) {
      const error = this.#assertOwnFault(sql, failure);
      sql.run("ROLLBACK TO work");
      sql.run("RELEASE work");
      return { ok: false, error };
    }
  }

  /** Throws a fault of the file, which affects all operations: SQLite may have already rolled back the transaction. */
  #assertOwnFault(sql: SqliteConnection, failure: unknown): Error {
    const error = toStoreError(failure, this.#path);
    if (!sql.inTransaction || (error instanceof StoreError && !WRITE_PRAGMAS.has(error.fault))) throw error;
    return error;
  }

  #abandon(error: Error): void {
    const sql = this.#sql;
    if (sql === undefined) return;
    try {
      if (sql.inTransaction) sql.exec("ROLLBACK");
      if (error instanceof StoreError && (error.fault === "busy" || error.fault === "full")) return;
    } catch {
      // The connection is closed below.
    }
    this.#disconnect();
  }

  #getConnection(): SqliteConnection {
    const isSameFile = this.#file.isUnchanged();
    if (this.#sql !== undefined) {
      if (isSameFile) return this.#sql;
      this.#disconnect();
    }
    const sql = new SqliteConnection(this.#path);
    try {
      // Before the first pragma that writes.
      this.#retryWrite(() => checkVersion(sql, this.#path));
      this.#retryWrite(() => sql.get("PRAGMA journal_mode = WAL"));
      sql.exec(SETTINGS);
      this.#retryWrite(() => sql.exec("BEGIN IMMEDIATE"));
      migrateFile(sql, this.#path, Date.now());
      sql.exec("COMMIT");
    } catch (error) {
      if (sql.inTransaction) sql.exec("ROLLBACK");
      sql.close();
      throw error;
    }
    this.#sql = sql;
    this.#file.remember();
    return sql;
  }

  #beginWrite(sql: SqliteConnection): void {
    this.#retryWrite(() => sql.exec("BEGIN IMMEDIATE"));
    const version = readVersion(sql);
    if (version > LATEST_VERSION) throw createNewerError(this.#path, version, LATEST_VERSION);
  }

  #retryWrite<T>(attempt: () => T): T {
    const deadline = performance.now() + this.#busyMs;
    for (let failures = 1; ; failures += 1) {
      try {
        return attempt();
      } catch (failure) {
        const error = toStoreError(failure, this.#path);
        if (!(error instanceof StoreError) || error.fault !== "busy") throw error;
        if (performance.now() >= deadline) throw createBusyError(this.#path, this.#busyMs, failure);
      }
      // Random, so that two waiting processes do not stay synchronised.
      Atomics.wait(this.#wait, 0, 0, randomisePauseMs(computePauseMs(LOCK_BACK_OFF, failures)));
    }
  }
}
