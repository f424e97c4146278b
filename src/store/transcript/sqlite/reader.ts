import { existsSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { Work } from "../sql/statement.ts";
import type { Vault } from "../sql/vault.ts";
import { StoreError } from "../store-error.ts";
import { storeError, translated } from "./fault.ts";
import { readOnlyLocation } from "./inspect.ts";
import { LATEST, versionOf } from "./migrations.ts";
import { SameFile } from "./same-file.ts";
import { carryOut, Sql } from "./sql.ts";

/** How long a read may hold the main thread before it lets others run. */
const SLICE_MS = 8;
const LOCK_PAUSE_MS = 5;

/**
 * The connection that reads, on the main thread: a keyed read takes microseconds. What may be long is read in
 * pages, with a `breath` between them. WAL lets it read while others write.
 */
export class Reader {
  readonly #path: string;
  readonly #busyMs: number;
  readonly #file: SameFile;
  readonly #readOnly: boolean;
  readonly #vault: Vault;
  #sql: Sql | undefined;
  #closed = false;
  #sliceEndMs = 0;

  constructor(path: string, busyMs: number, readOnly: boolean, vault: Vault) {
    this.#path = path;
    this.#busyMs = busyMs;
    this.#file = new SameFile(path);
    this.#readOnly = readOnly;
    this.#vault = vault;
  }

  /** @param work - Runs again from its beginning when the file is locked. */
  async read<T>(work: () => Work<T>): Promise<T> {
    if (this.#closed) throw new StoreError("other", `Transcript ${this.#path} was closed.`);
    const deadline = performance.now() + this.#busyMs;
    for (;;) {
      try {
        return carryOut(this.#connected(), this.#vault.through(work()));
      } catch (thrown) {
        const error = translated(thrown, this.#path);
        if (!(error instanceof StoreError)) throw error;
        if (error.fault !== "busy") {
          this.#disconnect();
          throw error;
        }
        if (performance.now() >= deadline) {
          throw storeError("busy", this.#path, `the file stayed locked for ${this.#busyMs} ms`, thrown);
        }
      }
      await pause(LOCK_PAUSE_MS);
    }
  }

  /** Lets others run when a read has taken long enough. */
  async breath(): Promise<void> {
    if (performance.now() < this.#sliceEndMs) return;
    await nextTurn();
    this.#sliceEndMs = performance.now() + SLICE_MS;
  }

  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  #disconnect(): void {
    this.#sql?.close();
    this.#sql = undefined;
  }

  #connected(): Sql {
    const there = this.#file.isThere();
    if (this.#sql !== undefined) {
      if (there) return this.#sql;
      this.#disconnect();
    }
    const sql = this.#readOnly ? openReadOnly(this.#path) : new Sql(this.#path);
    try {
      sql.exec("PRAGMA query_only = ON");
      const version = versionOf(sql);
      if (version < LATEST) {
        const what = `the file has schema version ${version}, this Holdfast reads ${LATEST}`;
        throw new StoreError(
          "other",
          `Transcript ${this.#path}: ${what}. Open it once for writing to raise it.`,
        );
      }
    } catch (error) {
      sql.close();
      throw error;
    }
    this.#sql = sql;
    this.#file.remember();
    return sql;
  }
}

/** On a read-only file system SQLite cannot make its helper files; without a log it needs none. */
function openReadOnly(path: string): Sql {
  const sql = new Sql(readOnlyLocation(path));
  try {
    versionOf(sql);
    return sql;
  } catch (error) {
    sql.close();
    if (existsSync(`${path}-wal`)) throw error;
    return new Sql(`${readOnlyLocation(path)}&immutable=1`);
  }
}
