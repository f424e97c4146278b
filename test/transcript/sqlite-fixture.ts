import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
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

/** Returns the store error with which a promise is rejected. */
export async function catchStoreError(promise: Promise<unknown>): Promise<StoreError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}
