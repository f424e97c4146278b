import { at } from "../../../platform/kill-point.ts";
import { StoreError, type StoreFault } from "../store-error.ts";
import { storeError, translated } from "./fault.ts";
import { LATEST, migrate, newer, versionFound, versionOf } from "./migrations.ts";
import { SameFile } from "./same-file.ts";
import { mustBeSound } from "./soundness.ts";
import { Sql } from "./sql.ts";

/** One thing to write. What it throws is its own affair: the others of its commit go through. */
export type Work = (sql: Sql) => unknown;

export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error };

/** Faults that say nothing of the file. */
const OF_ONE_WRITE: ReadonlySet<StoreFault> = new Set(["other", "behind", "ahead"]);

/** Time between two looks at a lock that another process holds. */
const LOCK_PAUSE_MS = { first: 0.5, longest: 10 };

const SETTINGS = `
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA journal_size_limit = 67108864;
`;

/**
 * The one connection of this process that writes.
 *
 * It waits by blocking its thread, so it belongs into a thread of its own. After a fault of the file it opens
 * the file anew for the next commit.
 */
export class Committer {
  readonly #path: string;
  readonly #busyMs: number;
  readonly #file: SameFile;
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  #sql: Sql | undefined;

  constructor(path: string, busyMs: number) {
    this.#path = path;
    this.#busyMs = busyMs;
    this.#file = new SameFile(path);
  }

  /** Opens the file and brings it to the newest version. */
  open(): void {
    try {
      mustBeSound(this.#connected(), this.#path);
    } catch (error) {
      this.#disconnect();
      throw translated(error, this.#path);
    }
  }

  /**
   * Writes everything in one transaction, with one fsync at its end.
   *
   * @param more - Asked once the lock is there: what came in while we waited for it comes along.
   */
  commit(first: readonly Work[], more: () => readonly Work[]): Answer[] {
    let count = first.length;
    try {
      const sql = this.#connected();
      at("commit:begin");
      this.#begin(sql);
      const answers: Answer[] = first.map((work) => this.#attempt(sql, work));
      const late = more();
      count += late.length;
      answers.push(...late.map((work) => this.#attempt(sql, work)));
      at("commit:end");
      sql.exec("COMMIT");
      at("commit:done");
      return answers;
    } catch (thrown) {
      const error = translated(thrown, this.#path);
      this.#abandon(error);
      return Array.from({ length: count }, () => ({ ok: false, error }));
    }
  }

  /** Leaves one whole file behind when nobody else is at it. */
  close(): void {
    try {
      this.#sql?.get("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The log stays beside the file, which is as safe.
    }
    this.#disconnect();
  }

  #disconnect(): void {
    this.#sql?.close();
    this.#sql = undefined;
  }

  #attempt(sql: Sql, work: Work): Answer {
    sql.run("SAVEPOINT work");
    try {
      const value = work(sql);
      sql.run("RELEASE work");
      return { ok: true, value };
    } catch (thrown) {
      const error = translated(thrown, this.#path);
      // A fault of the file is everybody's: SQLite may have given up the transaction already.
      if (!sql.inTransaction || (error instanceof StoreError && !OF_ONE_WRITE.has(error.fault))) throw error;
      sql.run("ROLLBACK TO work");
      sql.run("RELEASE work");
      return { ok: false, error };
    }
  }

  #abandon(error: Error): void {
    const sql = this.#sql;
    if (sql === undefined) return;
    try {
      if (sql.inTransaction) sql.exec("ROLLBACK");
      if (error instanceof StoreError && (error.fault === "busy" || error.fault === "full")) return;
    } catch {
      // The connection is given up below.
    }
    this.#disconnect();
  }

  #connected(): Sql {
    const there = this.#file.isThere();
    if (this.#sql !== undefined) {
      if (there) return this.#sql;
      this.#disconnect();
    }
    const sql = new Sql(this.#path);
    try {
      // Before the first pragma that writes.
      this.#patiently(() => versionFound(sql, this.#path));
      this.#patiently(() => sql.get("PRAGMA journal_mode = WAL"));
      sql.exec(SETTINGS);
      this.#patiently(() => sql.exec("BEGIN IMMEDIATE"));
      migrate(sql, this.#path, Date.now());
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

  #begin(sql: Sql): void {
    this.#patiently(() => sql.exec("BEGIN IMMEDIATE"));
    const version = versionOf(sql);
    if (version > LATEST) throw newer(this.#path, version, LATEST);
  }

  #patiently<T>(attempt: () => T): T {
    const deadline = performance.now() + this.#busyMs;
    let pauseMs = LOCK_PAUSE_MS.first;
    for (;;) {
      try {
        return attempt();
      } catch (thrown) {
        const error = translated(thrown, this.#path);
        if (!(error instanceof StoreError) || error.fault !== "busy") throw error;
        if (performance.now() >= deadline) {
          throw storeError("busy", this.#path, `the file stayed locked for ${this.#busyMs} ms`, thrown);
        }
      }
      // Uneven, so that two who wait do not keep meeting.
      Atomics.wait(this.#pause, 0, 0, pauseMs * (0.5 + Math.random()));
      pauseMs = Math.min(pauseMs * 1.5, LOCK_PAUSE_MS.longest);
    }
  }
}
