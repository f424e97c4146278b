import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EncryptedColumns } from "../sql/column-encryption.ts";
import type { Work } from "../sql/statement.ts";
import { StoreError } from "../store-error.ts";
import { FileIdentity } from "./file-identity.ts";
import { getReadOnlyLocation } from "./inspect-file.ts";
import { LATEST_VERSION, readVersion } from "./migrations.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { runWork, SqliteConnection } from "./sqlite-connection.ts";

/** How long a read may block the main thread before it yields. */
const SLICE_MS = 8;

/**
 * The connection that reads, on the main thread: a read by key takes microseconds. Long reads run in pages, with
 * `yieldIfDue` between them. WAL lets it read while others write.
 */
export class SqliteReader {
  readonly #path: string;
  readonly #busyMs: number;
  readonly #file: FileIdentity;
  readonly #readOnly: boolean;
  readonly #columns: EncryptedColumns;
  #sql: SqliteConnection | undefined;
  #closed = false;
  #sliceEndMs = 0;

  constructor(path: string, busyMs: number, readOnly: boolean, columns: EncryptedColumns) {
    this.#path = path;
    this.#busyMs = busyMs;
    this.#file = new FileIdentity(path);
    this.#readOnly = readOnly;
    this.#columns = columns;
  }

  /** @param work - Restarts from its beginning if the file is locked. */
  async read<T>(work: () => Work<T>): Promise<T> {
    if (this.#closed) throw new StoreError("other", `The transcript ${this.#path} is closed.`);
    try {
      return await retryWhileBusy(this.#path, this.#busyMs, () =>
        runWork(this.#getConnection(), this.#columns.encryptWork(work())),
      );
    } catch (error) {
      if (error instanceof StoreError && error.fault !== "busy") this.#disconnect();
      throw error;
    }
  }

  /** Yields to other tasks if a read has run long enough. */
  async yieldIfDue(): Promise<void> {
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

  #getConnection(): SqliteConnection {
    const isSameFile = this.#file.isUnchanged();
    if (this.#sql !== undefined) {
      if (isSameFile) return this.#sql;
      this.#disconnect();
    }
    const sql = this.#readOnly ? openReadOnly(this.#path) : new SqliteConnection(this.#path);
    try {
      sql.exec("PRAGMA query_only = ON");
      const version = readVersion(sql);
      if (version < LATEST_VERSION) {
        const problem = `the file has schema version ${version}, but this Holdfast reads version ${LATEST_VERSION}`;
        throw new StoreError(
          "other",
          `Transcript ${this.#path}: ${problem}. Open it once for writing to migrate it.`,
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

/** Opens a file read-only. On a read-only file system SQLite cannot create its helper files; without a log it needs none. */
function openReadOnly(path: string): SqliteConnection {
  const sql = new SqliteConnection(getReadOnlyLocation(path));
  try {
    readVersion(sql);
    return sql;
  } catch (error) {
    sql.close();
    if (existsSync(`${path}-wal`)) throw error;
    return new SqliteConnection(`${getReadOnlyLocation(path)}&immutable=1`);
  }
}
