import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { type SqliteOptions, SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { StoreError } from "../../src/store/transcript/store-error.ts";

/** A folder per test, and transcripts in it that are closed after the test. */
export class SqliteFixture {
  folder = "";
  path = "";
  readonly #openTranscripts: SqliteTranscript[] = [];

  static forEachTest(): SqliteFixture {
    const bench = new SqliteFixture();
    beforeEach(async () => {
      bench.folder = await mkdtemp(join(tmpdir(), "holdfast-transcript-"));
      bench.path = join(bench.folder, "transcript.db");
    });
    afterEach(async () => {
      for (const transcript of bench.#openTranscripts.splice(0)) await transcript.close();
      await rm(bench.folder, { recursive: true, force: true });
    });
    return bench;
  }

  async open(of: Partial<SqliteOptions> = {}): Promise<SqliteTranscript> {
    const transcript = await SqliteTranscript.open({ path: this.path, ...of });
    this.#openTranscripts.push(transcript);
    return transcript;
  }
}

/** Transcripts that the tests of a file use one after another: each opening would start a thread and create the tables. */
export class SqliteTranscriptPool {
  #folder = "";
  readonly #opened: SqliteTranscript[] = [];
  readonly #free: SqliteTranscript[] = [];
  readonly #encryption: SqliteOptions["encryption"];

  private constructor(encryption: SqliteOptions["encryption"]) {
    this.#encryption = encryption;
  }

  static forAllTests(encryption?: SqliteOptions["encryption"]): SqliteTranscriptPool {
    const pool = new SqliteTranscriptPool(encryption);
    beforeAll(async () => {
      pool.#folder = await mkdtemp(join(tmpdir(), "holdfast-transcript-"));
    });
    afterAll(async () => {
      for (const transcript of pool.#opened) await transcript.close();
      await rm(pool.#folder, { recursive: true, force: true });
    });
    return pool;
  }

  /** Returns an empty transcript, which the test gives back. */
  async take(): Promise<SqliteTranscript> {
    const free = this.#free.pop();
    if (free !== undefined) {
      emptyTables(free.path);
      return free;
    }
    const path = join(this.#folder, `${this.#opened.length}.db`);
    const opened = await SqliteTranscript.open({ path, encryption: this.#encryption });
    this.#opened.push(opened);
    return opened;
  }

  giveBack(transcript: SqliteTranscript): void {
    this.#free.push(transcript);
  }
}

function emptyTables(path: string): void {
  const sql = new SqliteConnection(path);
  const tables = sql.all<{ name: string }>(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'",
  );
  const filled = tables.filter(({ name }) => name !== "migrations" && !name.startsWith("sqlite_"));
  sql.exec("PRAGMA foreign_keys = off; BEGIN IMMEDIATE");
  for (const { name } of filled) sql.exec(`DELETE FROM ${name}`);
  sql.exec("INSERT INTO search_index(search_index) VALUES ('delete-all')");
  sql.exec("COMMIT");
  sql.close();
}

/** Returns the store error with which a promise is rejected. */
export async function catchStoreError(promise: Promise<unknown>): Promise<StoreError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}
