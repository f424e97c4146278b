import { expect, test } from "vitest";
import { Database } from "../../src/store/postgres/database.ts";
import { maskPassword, parseDatabaseTarget } from "../../src/store/postgres/database-target.ts";
import { PostgresTranscript } from "../../src/store/transcript/postgres/postgres-transcript.ts";
import { MIGRATIONS } from "../../src/store/transcript/postgres/schema.ts";
import { NO_POSTGRES } from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { spawnPostgresChild } from "./postgres-child.ts";
import { findMissingPostgres, PostgresFixture } from "./postgres-fixture.ts";
import { opening } from "./sample-writes.ts";
import { readLines, waitForExit } from "./script-process.ts";
import { catchStoreError } from "./sqlite-fixture.ts";

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)(
  "the tables of a transcript in PostgreSQL",
  () => {
    const bench = PostgresFixture.forEachTest();

    test("are created once if many transcripts open at the same time in several processes", async () => {
      const script =
        "const t = await PostgresTranscript.open({ url }); await t.unregisterProcess('x'); await t.close(); say('ok');";
      const children = Array.from({ length: 2 }, () => spawnPostgresChild(bench.url, script));
      await Promise.all(Array.from({ length: 5 }, () => bench.open()));
      expect(await Promise.all(children.map(readLines))).toEqual(["ok", "ok"]);
      await Promise.all(children.map(waitForExit));
      const rows = await bench.sql<{ version: number }>(
        "SELECT version::int FROM migrations ORDER BY version",
      );
      expect(rows.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
    });

    test("are unchanged by a migration that is terminated halfway, and the next one completes", async () => {
      const steps = [...MIGRATIONS, "CREATE TABLE half_made (a BIGINT); SELECT pg_sleep(60)"];
      const target = { ...parseDatabaseTarget(bench.url), applicationName: "interrupted" };
      const opened = Database.open({ target, part: { name: "transcript", steps }, deadlineMs: 0 });
      const refused = expect(opened).rejects.toMatchObject({ fault: "unreachable" });
      const sleeping =
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'interrupted' AND query LIKE '%half%'";
      while ((await bench.sql(sleeping)).length === 0);
      const waiting = bench.open();
      await bench.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'interrupted'",
      );
      await refused;
      await (await waiting).openLoop(opening());
      expect(await bench.sql("SELECT to_regclass('half_made') AS there")).toEqual([{ there: null }]);
    });

    test("are rejected if their version is newer, on opening and on writing, and do not change", async () => {
      const transcript = await bench.open();
      await transcript.openLoop(opening());
      const newer = MIGRATIONS.length + 1;
      await bench.sql(`INSERT INTO migrations VALUES ('transcript', ${newer}, 0)`);
      const uses = [() => transcript.putText("x", 1), () => PostgresTranscript.open({ url: bench.url })];
      for (const use of uses) {
        const { fault, message } = await catchStoreError(use());
        expect(fault).toBe("newer");
        expect(message).toMatch(
          new RegExp(`version ${newer}.* up to ${MIGRATIONS.length}.*Run the newer version`),
        );
      }
      expect(await bench.sql("SELECT 1 FROM contents")).toEqual([]);
    });

    test("are rejected if they have the version that was never released", async () => {
      await bench.open();
      await bench.sql("DELETE FROM migrations WHERE part = 'transcript' AND version > 1");
      const { fault, message } = await catchStoreError(PostgresTranscript.open({ url: bench.url }));
      expect([fault, message]).toEqual([
        "other",
        expect.stringContaining("the tables of the transcript have version 1, which was never released"),
      ]);
    });

    test("are not created in a schema of another program", async () => {
      await bench.sql(`CREATE SCHEMA ${bench.schema} CREATE TABLE t (a BIGINT)`);
      const { fault, message } = await catchStoreError(PostgresTranscript.open({ url: bench.url }));
      expect([fault, message]).toEqual(["other", expect.stringContaining("another program")]);
      expect(await bench.sql("SELECT to_regclass('migrations') AS there")).toEqual([{ there: null }]);
    });

    test("are reported as damaged if one is missing", async () => {
      const transcript = await bench.open();
      await bench.sql("DROP TABLE inbox");
      expect((await catchStoreError(transcript.openLoop(opening()))).fault).toBe("damaged");
    });

    test.each([
      ["with one changed letter", "UPDATE entries SET message = replace(message, 'hello', 'hallo')"],
      ["that is no longer JSON", "UPDATE entries SET message = 'undefined'"],
    ])("a short message %s is reported as damage, with what to do", async (_, statement) => {
      const transcript = await bench.open();
      await transcript.openLoop(opening());
      await bench.sql(statement);
      const { fault, message } = await catchStoreError(transcript.readEntries("s", "main", 0, 9));
      expect([fault, message]).toEqual(["damaged", expect.stringMatching(/Restore a backup/)]);
    });

    test("can be used by a role that may not create them, and the error names a missing permission", async () => {
      const role = `limited_${process.pid}_${bench.schema}`;
      await bench.sql(`CREATE ROLE ${role} LOGIN`);
      const url = new URL(bench.url);
      url.username = role;
      const refused = await catchStoreError(PostgresTranscript.open({ url: url.href }));
      expect([refused.fault, refused.message]).toEqual([
        "read-only",
        expect.stringMatching(/permission denied.*write access/),
      ]);
      await (await bench.open()).close();
      await bench.sql(`GRANT USAGE ON SCHEMA ${bench.schema} TO ${role}`);
      await bench.sql(`GRANT SELECT ON ALL TABLES IN SCHEMA ${bench.schema} TO ${role}`);
      const reading = await bench.open({ url: url.href });
      expect(await reading.findSessions({ limit: 1 })).toEqual([]);
      expect((await catchStoreError(reading.openLoop(opening()))).fault).toBe("read-only");
      await bench.sql(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${bench.schema} TO ${role}`);
      expect((await reading.openLoop(opening())).loopId).toBe("s.v.m.1");
    });

    test("are reported as unreachable with the reason, and never with the password", async () => {
      const secret = "S3CR3T-marker";
      const at = (change: (url: URL) => void) => {
        const url = new URL(bench.url);
        url.password = secret;
        change(url);
        return url.href;
      };
      const bad: readonly (readonly [string, RegExp])[] = [
        [at((url) => (url.pathname = "/nowhere")), /database "nowhere" does not exist/],
        [at((url) => (url.username = "nobody_here")), /role "nobody_here" does not exist/],
        [at((url) => (url.port = "1")), /ECONNREFUSED/],
        [at((url) => url.searchParams.set("sslmode", "verify-full")), /SSL.*sslmode=disable/],
        [at((url) => url.searchParams.set("sslmod", "x")), /parameter "sslmod".*sslmode/],
        [`http://u:${secret}@127.0.0.1/x`, /begins with http:/],
        [`postgresql://u:${secret}@127.0.0.1:99999999/x`, /cannot be parsed/],
      ];
      for (const [url, words] of bad) {
        const error = await catchStoreError(PostgresTranscript.open({ url, deadlineMs: 0 }));
        expect(error.fault).toBe("unreachable");
        expect(error.message).toMatch(words);
        const all = [
          error.message,
          error.stack,
          JSON.stringify(error),
          String(error.cause),
          maskPassword(url),
        ];
        expect(all.join("\n")).not.toContain(secret);
      }
    });
  },
);
