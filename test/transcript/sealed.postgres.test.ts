import { readFileSync } from "node:fs";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { rekeyTranscript } from "../../src/client/sessions/rekey.ts";
import { PostgresTranscript } from "../../src/store/transcript/postgres/postgres-transcript.ts";
import { vacuumTables } from "../../src/store/transcript/postgres/vacuum-tables.ts";
import { ENCRYPTED_TABLES } from "../../src/store/transcript/sql/encrypted-columns.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { containsText } from "../support/encoded-text.ts";
import { NO_POSTGRES } from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughDescribe, thoroughTest } from "../support/test-depth.ts";
import { isUnencrypted, LONG, MARKER, readAll, writeMarkedSession } from "./marked-session.ts";
import { findMissingPostgres, PostgresFixture, runQuery } from "./postgres-fixture.ts";
import { event, step, write } from "./sample-writes.ts";
import { catchStoreError, SqliteFixture } from "./sqlite-fixture.ts";
import { testTranscriptContract } from "./transcript-contract.ts";

Object.assign(process.env, createKeyEnvironment("TEST_PG_A", "TEST_PG_B"));
const A = { keys: "a=env:TEST_PG_A" };
const B = { keys: "b=env:TEST_PG_B" };
const BA = { keys: `${B.keys},${A.keys}` };

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)("a store in PostgreSQL with keys", () => {
  const bench = PostgresFixture.forEachTest();
  const files = SqliteFixture.forEachTest();

  const EVERY_VALUE = ENCRYPTED_TABLES.flatMap(([table, { columns }]) =>
    columns.map(
      (column) => `SELECT '${table}.${column}' AS name,
        ${table === "contents" ? column : `convert_to(${column}, 'UTF8')`} AS value
        FROM ${table} WHERE ${column} IS NOT NULL`,
    ),
  ).join(" UNION ALL ");

  /** Returns the values of private columns that are stored unencrypted. */
  async function plainValues(schema = bench.schema): Promise<string[]> {
    const values = await runQuery<{ name: string; value: Buffer }>(
      bench.formatUrl({}),
      EVERY_VALUE,
      [],
      schema,
    );
    return values.filter(({ value }) => isUnencrypted(value)).map(({ name, value }) => `${name}: ${value}`);
  }

  /** Reads the files of this test's tables, their indexes and their long values from the server's disk. */
  async function bytesOnDisk(): Promise<Buffer> {
    await bench.sql("CHECKPOINT");
    const rows = await bench.sql<{ path: string }>(
      `WITH ours AS (
         SELECT oid, reltoastrelid FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::regnamespace)
       SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) AS path FROM (
         SELECT oid FROM ours
         UNION SELECT reltoastrelid FROM ours WHERE reltoastrelid <> 0
         UNION SELECT indexrelid FROM pg_index WHERE indrelid IN (SELECT oid FROM ours)) AS relations`,
      [bench.schema],
    );
    expect(rows.length).toBeGreaterThan(20);
    return Buffer.concat(rows.map(({ path }) => readFileSync(path)));
  }

  // `npm test` runs the contract on each back end once, without keys.
  thoroughDescribe("the contract of all back ends", () => {
    testTranscriptContract("PostgresTranscript with keys", async () => {
      const schema = bench.acquireSchema();
      const url = bench.formatUrl({ schema });
      return {
        transcript: await bench.open({ url, encryption: A }),
        reopen: () => PostgresTranscript.open({ url, encryption: A }),
        isEncrypted: true,
        // After every test: all private columns are encrypted, and the search index is empty.
        dispose: async () => {
          expect(await plainValues(schema)).toEqual([]);
          const words = await runQuery(bench.formatUrl({}), "SELECT 1 FROM search_index", [], schema);
          expect(words).toEqual([]);
        },
      };
    });
  });

  test("its tables have the same text and binary columns as the SQLite file [TMP-09.4]", async () => {
    await bench.open();
    await files.open();
    const sql = new SqliteConnection(files.path);
    const inFile = sql
      .all<{ name: string }>(
        `SELECT t.name || '.' || c.name AS name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
         WHERE t.type = 'table' AND c.type IN ('TEXT', 'BLOB')`,
      )
      .map(({ name }) => name);
    sql.close();
    const inTables = await bench.sql<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = $1 AND data_type NOT IN ('bigint', 'double precision')`,
      [bench.schema],
    );
    const own = /^(search_index|migrations|transcript_commits|sqlite_)/;
    const known = (names: readonly string[]) => names.filter((name) => !own.test(name)).sort();
    expect(known(inTables.map(({ name }) => name))).toEqual(known(inFile));
  });

  thoroughTest("its tables' files on the server's disk contain no plain text [TMP-09.4]", async () => {
    const transcript = await bench.open({ encryption: A });
    await writeMarkedSession(transcript);
    expect(containsText(await bytesOnDisk(), MARKER)).toBe(false);
    expect(await readAll(await bench.open({ encryption: A }))).toContain(LONG);
    // Without encryption, the same search finds the text.
    await writeMarkedSession(await bench.open({ encryption: { keys: `plain,${A.keys}` } }), "plain");
    expect(containsText(await bytesOnDisk(), MARKER)).toBe(true);
  });

  test("a missing or different key is reported on opening [TMP-09.3]", async () => {
    await writeMarkedSession(await bench.open({ encryption: A }));
    const refused = (keys: string) =>
      catchStoreError(PostgresTranscript.open({ url: bench.url, encryption: { keys } })).then(
        ({ message }) => message,
      );
    expect(await refused("")).toMatch(/Encrypted with key "a".*which has none.*HOLDFAST_ENCRYPTION_KEYS/);
    expect(await refused(B.keys)).toMatch(/key "a".*has "b"/);
    expect(await refused("a=env:TEST_PG_B")).toMatch(/key "a".*different key/);
    expect(await readAll(await bench.open({ encryption: BA }))).toContain(LONG);
  });

  test("a value that was moved from one row to another is detected [TMP-09.3]", async () => {
    const transcript = await bench.open({ encryption: A });
    const loopId = await writeMarkedSession(transcript);
    await writeMarkedSession(transcript, "other");
    await bench.sql(
      "UPDATE events SET body = (SELECT body FROM events AS e WHERE e.loop <> events.loop LIMIT 1)",
    );
    expect((await catchStoreError(transcript.readEvents(loopId, 0))).message).toMatch(
      /events\.body.*it was moved/,
    );
    await bench.sql(
      "UPDATE inbox SET text = (SELECT text FROM inbox AS i WHERE i.session <> inbox.session LIMIT 1)",
    );
    expect((await catchStoreError(transcript.readInbox("s"))).fault).toBe("damaged");
  });

  const rekeyed = async (keys: string) => {
    const { changed, vacuumed, key } = await rekeyTranscript({ database: bench.url, encryption: { keys } });
    return { changed: changed > 0, cleaned: vacuumed, key };
  };

  test("is re-encrypted: from plain text to a key, to a newer key alone, and back to plain text [TMP-09.4]", async () => {
    const before = await bench.open();
    await writeMarkedSession(before, "old");
    expect(await before.archive.search({ terms: MARKER, limit: 9 })).not.toEqual([]);
    expect(containsText(await bytesOnDisk(), MARKER)).toBe(true);
    expect(await rekeyed(A.keys)).toEqual({ changed: true, cleaned: true, key: "a" });
    expect(await plainValues()).toEqual([]);
    expect(containsText(await bytesOnDisk(), MARKER)).toBe(false);
    expect(containsText(await bytesOnDisk(), MARKER.toLowerCase())).toBe(false);
    expect(await rekeyed(BA.keys)).toEqual({ changed: true, cleaned: true, key: "b" });
    expect(await rekeyed(BA.keys)).toEqual({ changed: false, cleaned: true, key: "b" });
    // The old key is no longer needed.
    expect(await readAll(await bench.open({ encryption: B }), "old")).toContain(LONG);
    expect(await rekeyed(`plain,${B.keys}`)).toMatchObject({ key: undefined, changed: true });
    expect(await readAll(await bench.open(), "old")).toContain(LONG);
  });

  thoroughTest(
    "is re-encrypted page by page, interrupted and restarted, during other writes [TMP-09.4]",
    async () => {
      const before = await bench.open();
      const events = Array.from({ length: 250 }, (_, sequence) => event(sequence, `${MARKER} ${sequence}`));
      const loopId = await writeMarkedSession(before, "old");
      const own = { ...step({ number: 3 }), session: "old", run: "run-old" };
      await before.store(
        write({ loopId, branch: "main", base: 3 }, { step: own, outbox: { entries: [], events } }),
      );
      const transcript = await bench.open({ encryption: A });
      expect((await transcript.rekeyPage("a")).next).toBeDefined();
      await writeMarkedSession(transcript, "new");
      let page = await transcript.rekeyPage("a");
      while (page.next !== undefined) page = await transcript.rekeyPage("a", page.next);
      expect(await plainValues()).toEqual([]);
      expect(await transcript.readEvents(loopId, 0)).toHaveLength(250);
      expect(await readAll(transcript, "new")).toContain(LONG);
    },
  );

  thoroughTest(
    "is re-encrypted without a long wait for old snapshots and table locks, and reports if old text remains [TMP-09.4]",
    async () => {
      await writeMarkedSession(await bench.open());
      const other = new pg.Client({ connectionString: bench.formatUrl({}) });
      await other.connect();
      onTestFinished(() => other.end());
      await other.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
      expect(await rekeyed(A.keys)).toEqual({ changed: true, cleaned: false, key: "a" });
      expect(containsText(await bytesOnDisk(), MARKER)).toBe(true);
      await other.query(`ROLLBACK; BEGIN; LOCK TABLE "${bench.schema}".entries IN ACCESS SHARE MODE`);
      expect(await vacuumTables(bench.url, 200)).toBe(false);
      await other.query("ROLLBACK");
      expect(await rekeyed(A.keys)).toEqual({ changed: false, cleaned: true, key: "a" });
      expect(containsText(await bytesOnDisk(), MARKER)).toBe(false);
    },
  );
});
