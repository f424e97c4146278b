import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  buildCommitSql,
  buildGiveUpSql,
  createCommitsTableSql,
} from "../../src/store/postgres/commit-tokens.ts";
import { Database } from "../../src/store/postgres/database.ts";
import { parseDatabaseTarget } from "../../src/store/postgres/database-target.ts";
import type { Statement, Work } from "../../src/store/postgres/transaction.ts";
import { PostgresTranscript } from "../../src/store/transcript/postgres/postgres-transcript.ts";
import { type CuttingProxy, cutOnce, startCuttingProxy } from "../support/cutting-proxy.ts";
import { eventually } from "../support/eventually.ts";
import {
  findPostgresBinaries,
  NO_POSTGRES,
  type PostgresServer,
  startPostgres,
  startStandby,
  waitForStandby,
} from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { runQuery } from "./postgres-fixture.ts";
import { EMPTY_OUTBOX, entry, opening, readTexts, step, write } from "./sample-writes.ts";
import { catchStoreError } from "./sqlite-fixture.ts";

/** Includes the end of the message, because a BEGIN with an isolation level contains the word too. */
const COMMIT = "COMMIT\0";

describeIf(findPostgresBinaries() !== undefined, NO_POSTGRES)("a PostgreSQL server that fails", () => {
  let server: PostgresServer;
  let proxy: CuttingProxy;
  let url: string;
  const closing: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    // Commits that are not awaited stay in memory, so that a kill loses them.
    server = await startPostgres({ wal_writer_delay: "10s" });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    proxy = await startCuttingProxy(server.port);
    url = server.url(await server.database());
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
    await proxy.close();
  });

  async function opened(options: object = {}, at = url): Promise<PostgresTranscript> {
    const transcript = await PostgresTranscript.open({ url: at, ...options });
    closing.push(transcript);
    return transcript;
  }

  const throughProxy = () => url.replace(`:${server.port}/`, `:${proxy.port}/`);

  /** Writes to twenty sessions at once, sequentially in each, and checks all entries and claims. */
  async function storm(transcript: PostgresTranscript, meanwhile: () => Promise<void>): Promise<string[]> {
    const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`);
    let over = false;
    const runs = sessions.map(async (session) => {
      const own = step({ session, run: `run of ${session}`, number: 0, kind: "open-loop" });
      const { loopId } = await transcript.openLoop(opening({ step: own }));
      let at = 1;
      for (; !over || at < 5; at++) {
        const key = { ...own, number: at, kind: "model" };
        const place = { loopId, branch: "main", base: at };
        const claimed = await transcript.claim(key, place, EMPTY_OUTBOX, at);
        expect(claimed).toEqual({ type: "claimed", branch: "main", executions: 1 });
        await transcript.store({ ...write(place, { entries: [entry(at, `${at}`)] }), step: key });
      }
      return at;
    });
    await meanwhile();
    over = true;
    const lengths = await Promise.all(runs);
    for (const [index, session] of sessions.entries()) {
      const numbers = Array.from({ length: lengths[index]! - 1 }, (_, at) => `${at + 1}`);
      expect(await readTexts(transcript, session, "main")).toEqual(["hello", ...numbers]);
      // A result without a claim claims the step itself, at its own time, which reveals a lost claim.
      const claims = (await transcript.readSteps(session)).filter(({ kind }) => kind === "model");
      const asClaimed = numbers.map((number) => ({
        number: Number(number),
        executions: 1,
        startedAtMs: Number(number),
      }));
      expect(claims).toEqual(asClaimed.map((claim) => expect.objectContaining(claim)));
    }
    return sessions;
  }

  thoroughTest.each(["kill", "shutDown"] as const)(
    "%s during many writes: the store waits for the server, and has each claim and each answer once",
    async (how) => {
      const transcript = await opened({ deadlineMs: 30_000 });
      await storm(transcript, async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await server[how]();
        await server.start();
        await new Promise((resolve) => setTimeout(resolve, 100));
      });
    },
  );

  test("a server that stays unreachable is reported, and the store continues when it is back", async () => {
    const transcript = await opened({ deadlineMs: 300 });
    await transcript.openLoop(opening());
    await server.shutDown();
    try {
      const { fault, message } = await catchStoreError(transcript.putText("x", 1));
      expect(fault).toBe("unreachable");
      expect(message).toContain(`127.0.0.1:${server.port}`);
      expect((await catchStoreError(transcript.readSession("s"))).fault).toBe("unreachable");
    } finally {
      await server.start();
    }
    expect(await transcript.readText(await transcript.putText("x", 1))).toBe("x");
    expect((await transcript.readSession("s"))?.id).toBe("s");
  });

  thoroughTest.each([
    ["before the server receives it", "cut"],
    ["after the server receives it, before its answer", "pass-and-cut"],
  ] as const)("a connection cut during a commit, %s: the step is claimed once", async (_, verdict) => {
    const transcript = await opened({}, throughProxy());
    const { loopId } = await transcript.openLoop(opening());
    const place = { loopId, branch: "main", base: 1 };
    proxy.judge = cutOnce(COMMIT, verdict);
    expect(await transcript.claim(step(), place, EMPTY_OUTBOX, 5)).toEqual({
      type: "claimed",
      branch: "main",
      executions: 1,
    });
    proxy.judge = cutOnce(COMMIT, verdict);
    await transcript.store(write(place, { entries: [entry(1, "one")] }));
    expect(proxy.cuts).toBe(2);
    expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"]);
  });

  test.each(["INSERT INTO steps", "SELECT kind"])(
    "a connection that is cut at %s: the write is retried, and a read too",
    async (word) => {
      const transcript = await opened({}, throughProxy());
      const { loopId } = await transcript.openLoop(opening());
      const place = { loopId, branch: "main", base: 1 };
      // Prepared statements are sent by name: only a new connection sends the text again.
      await runQuery(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'",
      );
      proxy.judge = cutOnce(word, "cut");
      expect(await transcript.claim(step(), place, EMPTY_OUTBOX, 5)).toMatchObject({ executions: 1 });
      proxy.judge = cutOnce("REPEATABLE READ", "cut");
      expect(await transcript.countEntries("s", "main")).toBe(1);
      expect(proxy.cuts).toBe(2);
    },
  );

  thoroughTest("a lock that stays is reported as busy, and the store continues afterwards", async () => {
    const transcript = await opened({ limits: { lockMs: 100 } });
    let held = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    const holding = (await database()).write([], function* () {
      yield statement("LOCK TABLE holdfast.contents");
      held();
      yield statement("SELECT pg_sleep(0.4)");
    });
    await isHeld;
    const { fault, message } = await catchStoreError(transcript.putText("x", 1));
    expect(fault).toBe("busy");
    expect(message).toMatch(/lock timeout/);
    await holding;
    expect(await transcript.readText(await transcript.putText("x", 1))).toBe("x");
  });

  test("a commit that is lost with the server is retried, even if another one has its transaction id by then", async () => {
    const made = await database({ deadlineMs: 60_000 }, throughProxy());
    await made.write([], function* () {
      yield statement("INSERT INTO pairs VALUES (0, 0)");
    });
    let killed: Promise<void> | undefined;
    proxy.judge = (said) => {
      if (killed !== undefined || !said.includes(COMMIT)) return "pass";
      proxy.targetPort = undefined;
      killed = server.kill();
      return "cut";
    };
    let id = "";
    const writing = made.write([], function* () {
      const rows = yield statement(
        "INSERT INTO pairs VALUES (1, 0) RETURNING pg_current_xact_id()::text AS id",
      );
      if (id === "") ({ id } = rows[0] as { id: string });
    });
    await eventually(() => killed !== undefined);
    await killed;
    await server.start();
    for (let n = 2; n < 12; n++) await runQuery(url, `INSERT INTO pairs.pairs VALUES (${n}, 0)`);
    expect(await runQuery(url, "SELECT pg_xact_status($1::text::xid8) AS status", [id])).toEqual([
      { status: "committed" },
    ]);
    proxy.targetPort = server.port;
    await writing;
    expect(await runQuery(url, "SELECT n::int FROM pairs.pairs WHERE id = 1")).toEqual([{ n: 0 }]);
  });

  thoroughTest.each([
    ["has not arrived", "cut"],
    ["was executed", "pass-and-cut"],
  ] as const)(
    "a commit that %s when the primary server dies exists once on the standby, which decides only after its promotion",
    async (_, verdict) => {
      const primary = await startPostgres();
      const standby = await startStandby(primary);
      try {
        await waitForStandby(primary);
        url = primary.url(await primary.database());
        proxy.targetPort = primary.port;
        const made = await database(
          { deadlineMs: 60_000 },
          url.replace(`:${primary.port}/`, `:${proxy.port}/`),
        );
        let asks = 0;
        let isCut = false;
        proxy.judge = (said) => {
          if (isCut) {
            if (said.includes("pairs_commits") || said.includes("stream_commits")) asks += 1;
            return "pass";
          }
          if (!said.includes(COMMIT)) return "pass";
          isCut = true;
          proxy.targetPort = standby.port;
          return verdict;
        };
        let times = 0;
        const writing = made.write([], function* () {
          times += 1;
          yield statement("INSERT INTO pairs VALUES (1, 0)");
        });
        await eventually(() => asks >= 2);
        await primary.kill();
        await standby.promote();
        await writing;
        expect(times).toBe(verdict === "cut" ? 2 : 1);
        const promoted = url.replace(`:${primary.port}/`, `:${standby.port}/`);
        expect(await runQuery(promoted, "SELECT count(*)::int AS count FROM pairs.pairs")).toEqual([
          { count: 1 },
        ]);
      } finally {
        await standby.stop();
        await primary.stop();
      }
    },
  );

  test("a write that is given up can no longer be committed, and a committed one is not given up", async () => {
    const made = await database();
    const client = new pg.Client(url);
    await client.connect();
    const attempt = {
      token: "6f0f0d0e-5b0a-4b0e-9d5e-0a0b0c0d0e0f",
      startedAtMs: Date.now(),
      pid: 0,
      startedAt: "",
    };
    const [insert, select] = buildGiveUpSql("stream", attempt);
    try {
      await client.query("SET search_path TO pairs");
      await client.query(insert!);
      expect((await client.query(select!)).rows).toEqual([{ committed: "0" }]);
      await client.query("BEGIN; INSERT INTO pairs VALUES (1, 0)");
      await expect(client.query(buildCommitSql("stream", attempt))).rejects.toMatchObject({
        code: "23505",
      });
      await client.query("ROLLBACK");
      const other = { ...attempt, token: "6f0f0d0e-5b0a-4b0e-9d5e-0a0b0c0d0e10" };
      await client.query("BEGIN; INSERT INTO pairs VALUES (2, 0)");
      await client.query(buildCommitSql("stream", other));
      const [again, found] = buildGiveUpSql("stream", other);
      await client.query(again!);
      expect((await client.query(found!)).rows).toEqual([{ committed: "1" }]);
      const old = { ...attempt, startedAtMs: attempt.startedAtMs - 6 * 60_000 };
      const [late, none] = buildGiveUpSql("stream", old);
      await client.query(late!);
      expect((await client.query(none!)).rows).toEqual([]);
    } finally {
      await client.end();
    }
    expect(
      await made.read(function* (): Work<readonly unknown[]> {
        return yield statement("SELECT id FROM pairs");
      }),
    ).toEqual([{ id: 2 }]);
  });

  test("a write without changes leaves no token, and later writes delete old tokens", async () => {
    const made = await database();
    const write = (text: string) =>
      made.write([], function* () {
        yield statement(text);
      });
    const tokens = () => runQuery(url, "SELECT 1 FROM pairs.stream_commits");
    for (let writes = 0; writes < 5; writes++) await write("SELECT 1");
    expect(await tokens()).toEqual([]);
    await runQuery(
      url,
      "INSERT INTO pairs.stream_commits SELECT n, gen_random_uuid(), 1 FROM generate_series(1, 1500) AS n",
    );
    // One write in 64 sweeps, at random.
    let writes = 0;
    const isOld = "SELECT 1 FROM pairs.stream_commits WHERE started_at_ms <= 1500 LIMIT 1";
    while ((await runQuery(url, isOld)).length > 0 && writes < 4000) {
      await Promise.all(Array.from({ length: 50 }, () => write("UPDATE pairs SET n = n")));
      writes += 50;
    }
    expect(writes).toBeLessThan(4000);
  });

  thoroughTest(
    "a write waits for the disk even if the database is configured not to, and a stricter setting is kept",
    async () => {
      const settingIn = async (setting: string) => {
        await runQuery(
          url,
          `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = ${setting}`,
        );
        const made = await database();
        return made.write([], function* (): Work<unknown> {
          const [row] = yield statement("SELECT current_setting('synchronous_commit') AS setting");
          return (row as { setting: string }).setting;
        });
      };
      expect(await settingIn("off")).toBe("on");
      expect(await settingIn("remote_apply")).toBe("remote_apply");
    },
  );

  async function database(options: object = {}, at = url): Promise<Database> {
    const part = {
      name: "stream" as const,
      steps: [
        `CREATE TABLE pairs (id BIGINT PRIMARY KEY, n BIGINT NOT NULL);${createCommitsTableSql("stream")}`,
      ],
    };
    const target = { ...parseDatabaseTarget(at), schema: "pairs" };
    const made = await Database.open({ target, part, ...options });
    closing.push(made);
    return made;
  }

  const statement = (text: string, ...values: number[]): Statement => ({ text, values, returns: "rows" });

  thoroughTest("a statement that takes too long is cancelled by the server and reported", async () => {
    const made = await database({ limits: { statementMs: 100 } });
    const begin = performance.now();
    const slow = made.read(function* (): Work<unknown> {
      return yield statement("SELECT pg_sleep(30)");
    });
    await expect(slow).rejects.toMatchObject({
      fault: "busy",
      message: expect.stringMatching(/statement timeout/),
    });
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  thoroughTest("two writes that wait for each other both succeed", async () => {
    const made = await database();
    await made.write([], function* () {
      yield statement("INSERT INTO pairs VALUES (1, 0), (2, 0)");
    });
    const add = (first: number, second: number) =>
      made.write([], function* () {
        yield statement("UPDATE pairs SET n = n + 1 WHERE id = ?", first);
        yield statement("SELECT pg_sleep(0.2)");
        yield statement("UPDATE pairs SET n = n + 1 WHERE id = ?", second);
      });
    await Promise.all([add(1, 2), add(2, 1)]);
    const rows = await made.read(function* (): Work<readonly unknown[]> {
      return yield statement("SELECT n FROM pairs ORDER BY id");
    });
    expect(rows).toEqual([{ n: 2 }, { n: 2 }]);
  });

  thoroughTest(
    "a process that sleeps during a transaction loses it, and retries it when it wakes",
    async () => {
      const made = await database({ limits: { idleMs: 100 } });
      let times = 0;
      await made.write(["s"], function* () {
        times += 1;
        yield statement("INSERT INTO pairs VALUES (1, 0)");
        if (times === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        yield statement("UPDATE pairs SET n = n + 1 WHERE id = 1");
      });
      expect(times).toBe(2);
      expect(await runQuery(url, "SELECT n::int FROM pairs.pairs")).toEqual([{ n: 1 }]);
    },
  );

  thoroughTest("a statement whose result is not awaited still fails its transaction", async () => {
    const made = await database();
    const nothing = (text: string): Statement => ({ text, values: [], returns: "nothing" });
    const write = made.write([], function* () {
      yield nothing("INSERT INTO pairs VALUES (1, 0)");
      yield nothing("INSERT INTO pairs VALUES (2, NULL)");
      yield nothing("INSERT INTO pairs VALUES (3, 0)");
    });
    await expect(write).rejects.toThrow(/null value in column "n"/);
    expect(await runQuery(url, "SELECT * FROM pairs.pairs")).toEqual([]);
  });
});
