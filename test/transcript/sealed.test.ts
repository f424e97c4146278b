import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rekeyTranscript } from "../../src/client/sessions/rekey.ts";
import { ENCRYPTED_TABLES } from "../../src/store/transcript/sql/encrypted-columns.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { createKeyEnvironment } from "../codec/key-environment.ts";
import { thoroughDescribe } from "../support/test-depth.ts";
import { listLines } from "./archive-contract.ts";
import { isUnencrypted, LONG, MARKER, readAll, writeMarkedSession } from "./marked-session.ts";
import { event, step, write } from "./sample-writes.ts";
import { catchStoreError, SqliteFixture, SqliteTranscriptPool } from "./sqlite-fixture.ts";
import { testTranscriptContract } from "./transcript-contract.ts";

Object.assign(process.env, createKeyEnvironment("TEST_STORE_A", "TEST_STORE_B"));
const A = { keys: "a=env:TEST_STORE_A" };
const BA = { keys: "b=env:TEST_STORE_B,a=env:TEST_STORE_A" };
const PLAIN_FIRST = { keys: "plain,a=env:TEST_STORE_A" };

const bench = SqliteFixture.forEachTest();

/** Returns the values of private columns that are stored unencrypted. */
function plainValues(path = bench.path): string[] {
  const sql = new SqliteConnection(path);
  const found = ENCRYPTED_TABLES.flatMap(([table, { columns }]) =>
    columns.flatMap((column) =>
      sql
        .all<{ value: string | Buffer | ArrayBuffer }>(
          `SELECT ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL`,
        )
        .map(({ value }) => (typeof value === "string" ? value : Buffer.from(value as Buffer)))
        .filter(isUnencrypted)
        .map((value) => `${table}.${column}: ${value.toString()}`),
    ),
  );
  sql.close();
  return found;
}

function bytesOfFiles(): string {
  const files = readdirSync(bench.folder).map((name) => readFileSync(join(bench.folder, name), "latin1"));
  return files.join("\n");
}

// `npm test` runs the contract on each back end once, without keys.
thoroughDescribe("the contract of all back ends", () => {
  const pool = SqliteTranscriptPool.forAllTests(A);

  testTranscriptContract("SqliteTranscript with keys", async () => {
    const transcript = await pool.take();
    const { path } = transcript;
    return {
      transcript,
      reopen: () => SqliteTranscript.open({ path, encryption: A }),
      isEncrypted: true,
      // After every test: all private columns are encrypted, and the search index is empty.
      dispose: async () => {
        expect(plainValues(path)).toEqual([]);
        const sql = new SqliteConnection(path);
        expect(sql.get("SELECT count(*) AS words FROM search_index")).toMatchObject({ words: 0 });
        sql.close();
        pool.giveBack(transcript);
      },
    };
  });
});

test("every text and binary column of the store is classified as private or not [TMP-09.4]", async () => {
  await bench.open();
  const sql = new SqliteConnection(bench.path);
  const columns = sql
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .flatMap(({ name }) =>
      sql
        .all<{ name: string; type: string }>(`PRAGMA table_info("${name}")`)
        .filter(({ type }) => type === "TEXT" || type === "BLOB")
        .map((column) => `${name}.${column.name}`),
    );
  sql.close();
  const secret = ENCRYPTED_TABLES.flatMap(([table, { columns }]) =>
    columns.map((column) => `${table}.${column}`),
  );
  // Add a new column here, or to ENCRYPTED_TABLES.
  expect(columns.filter((column) => !secret.includes(column))).toMatchInlineSnapshot(`
    [
      "answers.key",
      "answers.session",
      "branches.session",
      "branches.id",
      "branches.run",
      "contents.hash",
      "definitions.hash",
      "entries.run",
      "entries.origin",
      "entries.message_id",
      "entries.content",
      "evaluations.id",
      "evaluations.session",
      "inbox.session",
      "inbox.id",
      "loop_runs.run",
      "loops.loop_id",
      "loops.session",
      "loops.segment",
      "loops.parent_loop_id",
      "loops.definition_hash",
      "loops.model",
      "loops.branch",
      "loops.status",
      "loops.usage",
      "loops.end_branch",
      "loops.evaluation",
      "message_ids.session",
      "message_ids.id",
      "process_runs.process",
      "process_runs.run",
      "process_runs.session",
      "process_runs.workflow",
      "processes.id",
      "processes.host",
      "processes.start_time",
      "processes.namespace",
      "processes.task_queue",
      "search_index_data.block",
      "search_index_docsize.sz",
      "sessions.id",
      "sessions.agent_name",
      "sessions.definition_hash",
      "sessions.model",
      "sessions.head_branch",
      "sessions.last_loop_id",
      "sessions.status",
      "sessions.spawned_by",
      "sessions.agent_id",
      "sessions.origin",
      "sessions.rotated_from",
      "sessions.hidden",
      "sessions.import_digest",
      "sessions.scope",
      "snapshots.commit_id",
      "snapshots.git_ref",
      "steps.run",
      "steps.session",
      "steps.loop_id",
      "steps.kind",
      "steps.process",
      "steps.activity_id",
      "steps.group_start",
      "steps.branch",
      "steps.workflow",
      "steps.displaced",
      "suite_cases.run",
      "suite_cells.run",
      "suite_cells.cell",
      "suite_cells.kind",
      "suite_cells.state",
      "suite_cells.failure",
      "suite_claims.cell",
      "suite_claims.owner",
      "suite_results.cell",
      "suite_results.state",
      "suite_results.session",
      "suite_results.loop_id",
      "suite_results.branch",
      "suite_results.outcome",
      "suite_results.usage",
      "suite_runs.id",
      "suite_runs.name",
      "suite_runs.scorers",
      "suite_runs.control_state",
      "suite_runs.status",
      "suite_runs.stop_code",
      "suite_scores.scorer",
      "suite_scores.class",
      "suite_tags.tag",
      "suite_tags.run",
      "text_owners.hash",
      "text_owners.owner",
      "unaccepted_definitions.hash",
    ]
  `);
  expect(secret.filter((column) => !columns.includes(column))).toEqual([]);
});

describe("a store with keys [TMP-09.4]", () => {
  test("does not contain the plain text in its files", async () => {
    const transcript = await bench.open({ encryption: A });
    await writeMarkedSession(transcript);
    expect(bytesOfFiles()).not.toContain(MARKER);
    await transcript.close();
    expect(bytesOfFiles()).not.toContain(MARKER);
    expect(bytesOfFiles()).not.toContain(Buffer.from(MARKER).toString("base64").slice(0, 8));
    expect(await readAll(await bench.open({ encryption: A }))).toContain(LONG);
  });

  test("that was created without keys keeps its old data plain and readable, and reads new data", async () => {
    const before = await bench.open();
    await writeMarkedSession(before, "old");
    await before.close();
    const transcript = await bench.open({ encryption: A });
    await writeMarkedSession(transcript, "new");
    const plain = plainValues();
    expect(plain.length).toBeGreaterThan(5);
    expect(await readAll(transcript, "old")).toContain(LONG);
    expect(await readAll(transcript, "new")).toContain(LONG);
  });

  test("reports a missing or different key on opening [TMP-09.3]", async () => {
    const transcript = await bench.open({ encryption: A });
    await writeMarkedSession(transcript);
    await transcript.close();
    const refused = (keys: string) =>
      catchStoreError(SqliteTranscript.open({ path: bench.path, encryption: { keys } })).then(
        ({ message }) => message,
      );
    expect(await refused("")).toMatch(/Encrypted with key "a".*which has none.*HOLDFAST_ENCRYPTION_KEYS/);
    expect(await refused("b=env:TEST_STORE_B")).toMatch(/key "a".*has "b"/);
    expect(await refused("a=env:TEST_STORE_B")).toMatch(/key "a".*different key/);
    expect(await refused("a=env:NOT_SET")).toMatch(/cannot be opened: Key "a": NOT_SET/);
    expect(await readAll(await bench.open({ encryption: BA }))).toContain(LONG);
    expect(await readAll(await bench.open({ encryption: PLAIN_FIRST }))).toContain(LONG);
  });

  test("detects a value that was moved to another row or changed [TMP-09.3]", async () => {
    const transcript = await bench.open({ encryption: A });
    const loopId = await writeMarkedSession(transcript);
    await writeMarkedSession(transcript, "other");
    const tamper = (text: string): void => {
      const sql = new SqliteConnection(bench.path);
      sql.exec(text);
      sql.close();
    };
    tamper(`UPDATE events SET body = (SELECT body FROM events AS e WHERE e.loop <> events.loop LIMIT 1)`);
    expect((await catchStoreError(transcript.readEvents(loopId, 0))).message).toMatch(
      /events\.body.*it was moved/,
    );
    tamper(`UPDATE inbox SET text = (SELECT text FROM inbox AS i WHERE i.session <> inbox.session LIMIT 1)`);
    expect((await catchStoreError(transcript.readInbox("s"))).fault).toBe("damaged");
    tamper(`UPDATE entries SET message = (SELECT message FROM entries AS e WHERE e.position <> entries.position
      AND e.message IS NOT NULL LIMIT 1) WHERE message IS NOT NULL`);
    expect((await catchStoreError(transcript.readEntries("s", "main", 0, 9))).fault).toBe("damaged");
    tamper(`UPDATE definitions SET body = substr(body, 1, length(body) - 24)`);
    const [loop] = await transcript.readLoops("s");
    expect((await catchStoreError(transcript.readDefinition(loop!.definitionHash))).message).toMatch(
      /cannot decrypt it/,
    );
    tamper(
      `UPDATE suite_cases SET value = (SELECT value FROM suite_cases AS c WHERE c.run <> suite_cases.run LIMIT 1)`,
    );
    expect((await catchStoreError(transcript.suites.readCases("s", 0, 9))).message).toMatch(
      /suite_cases\.value.*it was moved/,
    );
    tamper(`UPDATE steps SET result = (SELECT result FROM steps AS o WHERE o.run <> steps.run LIMIT 1)`);
    const again = write(
      { loopId, branch: "main", base: 1 },
      { step: { ...step({ number: 2 }), session: "s", run: "run-s" } },
    );
    expect((await catchStoreError(transcript.store(again))).message).toMatch(/steps\.result.*it was moved/);
  });

  test("does not export a value that was moved to another row", async () => {
    const transcript = await bench.open({ encryption: A });
    await writeMarkedSession(transcript);
    const sql = new SqliteConnection(bench.path);
    sql.exec("INSERT INTO evaluations (id, session, opened, started_at_ms) VALUES ('e', 's', '{}', 1)");
    const exported = ENCRYPTED_TABLES.filter(
      ([table]) => !/^(definitions|contents|snapshots|events|answers|suite_.*)$/.test(table),
    );
    for (const [table, { key, columns }] of exported) {
      for (const column of columns) {
        const same = key.map((name) => `kept.${name} = ${table}.${name}`).join(" AND ");
        sql.exec(`CREATE TEMP TABLE kept AS SELECT * FROM ${table};
          UPDATE ${table} SET ${column} = (SELECT body FROM events LIMIT 1)`);
        const { message } = await catchStoreError(listLines(transcript, "s"));
        expect(message).toMatch(new RegExp(`${table}\\.${column}.*it was moved`));
        sql.exec(
          `UPDATE ${table} SET ${column} = (SELECT kept.${column} FROM kept WHERE ${same}); DROP TABLE kept`,
        );
      }
    }
    sql.close();
    expect(await listLines(transcript, "s")).not.toEqual([]);
  });
});

describe("re-encryption [TMP-09.4]", () => {
  const rekeyed = async (home: string, keys: string) => {
    const { changed, vacuumed, key } = await rekeyTranscript({ home, encryption: { keys } });
    return { changed: changed > 0, cleaned: vacuumed, key };
  };

  test("converts a store from plain text to a key, to a newer key alone, and back to plain text", async () => {
    const before = await bench.open();
    await writeMarkedSession(before, "old");
    await before.close();
    expect(bytesOfFiles()).toContain(MARKER);
    expect(await rekeyed(bench.folder, A.keys)).toEqual({ changed: true, cleaned: true, key: "a" });
    expect(bytesOfFiles()).not.toContain(MARKER);
    expect(plainValues()).toEqual([]);
    expect(await rekeyed(bench.folder, BA.keys)).toEqual({ changed: true, cleaned: true, key: "b" });
    expect(await rekeyed(bench.folder, BA.keys)).toEqual({ changed: false, cleaned: true, key: "b" });
    // The old key may go.
    const newer = await bench.open({ encryption: { keys: "b=env:TEST_STORE_B" } });
    expect(await readAll(newer, "old")).toContain(LONG);
    await newer.close();
    expect(await rekeyed(bench.folder, "plain,b=env:TEST_STORE_B")).toMatchObject({
      key: undefined,
      changed: true,
    });
    const plain = await bench.open();
    expect(await readAll(plain, "old")).toContain(LONG);
    expect(await plain.archive.search({ terms: MARKER, limit: 9 })).toHaveLength(3);
  });

  test("works page by page, interrupted and restarted, during other writes", async () => {
    const before = await bench.open();
    const events = Array.from({ length: 450 }, (_, sequence) => event(sequence, `${MARKER} ${sequence}`));
    const loopId = await writeMarkedSession(before, "old");
    const place = { loopId, branch: "main", base: 3 };
    await before.store(
      write(place, {
        step: { ...step({ number: 3 }), session: "old", run: "run-old" },
        outbox: { entries: [], events },
      }),
    );
    await before.close();
    const transcript = await bench.open({ encryption: A });
    const first = await transcript.rekeyPage("a");
    expect(first.next).toBeDefined();
    await writeMarkedSession(transcript, "new");
    const other = await bench.open({ encryption: A });
    let cursor = (await other.rekeyPage("a")).next;
    while (cursor !== undefined) cursor = (await other.rekeyPage("a", cursor)).next;
    expect(plainValues()).toEqual([]);
    expect(await transcript.readEvents(loopId, 0)).toHaveLength(450);
  });

  test("fails if there is no store", async () => {
    await expect(
      rekeyTranscript({ home: join(bench.folder, "nosuch"), encryption: A }),
    ).rejects.toMatchObject({
      code: "input-invalid",
    });
  });
});
