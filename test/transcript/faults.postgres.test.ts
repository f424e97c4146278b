import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { commitsTable } from "../../src/postgres/commits.ts";
import { Database } from "../../src/postgres/database.ts";
import { databaseTarget } from "../../src/postgres/target.ts";
import type { Statement, Work } from "../../src/postgres/transaction.ts";
import { PostgresTranscript } from "../../src/transcript/postgres/postgres-transcript.ts";
import { type CuttingProxy, once, startCuttingProxy } from "../support/cutting-proxy.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../support/postgres.ts";
import { asked } from "./postgres-bench.ts";
import { storeErrorOf } from "./sqlite-bench.ts";
import { entry, NOTHING, opening, step, texts, write } from "./story.ts";

/** The end of the message: the isolation level of a beginning has the word in it too. */
const COMMIT = "COMMIT\0";

describe.skipIf(postgresBinaries() === undefined)("a PostgreSQL server that fails", () => {
  let server: PostgresServer;
  let proxy: CuttingProxy;
  let url: string;
  const closing: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    server = await startPostgres();
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

  /** Stores of twenty sessions, one after the other in each; gives how many entries each must have. */
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
        const claimed = await transcript.claim(key, place, NOTHING, at);
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
      expect(await texts(transcript, session, "main")).toEqual(["hello", ...numbers]);
    }
    return sessions;
  }

  test.each(["kill", "shutDown"] as const)(
    "%s in the middle of many writes: it is awaited, each step is taken once, and each answer is there once",
    async (how) => {
      const transcript = await opened({ patienceMs: 30_000 });
      await storm(transcript, async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await server[how]();
        await server.start();
        await new Promise((resolve) => setTimeout(resolve, 100));
      });
    },
    60_000,
  );

  test("a server that stays away is reported, and the store goes on when it is back", async () => {
    const transcript = await opened({ patienceMs: 300 });
    await transcript.openLoop(opening());
    await server.shutDown();
    try {
      const { fault, message } = await storeErrorOf(transcript.putText("x", 1));
      expect(fault).toBe("unreachable");
      expect(message).toContain(`127.0.0.1:${server.port}`);
      expect((await storeErrorOf(transcript.session("s"))).fault).toBe("unreachable");
    } finally {
      await server.start();
    }
    expect(await transcript.text(await transcript.putText("x", 1))).toBe("x");
    expect((await transcript.session("s"))?.id).toBe("s");
  });

  test.each([
    ["before the commit has arrived", "cut"],
    ["after it has arrived, before its answer", "pass-and-cut"],
  ] as const)("a connection that is cut over a commit, %s: the step is taken once", async (_, verdict) => {
    const transcript = await opened({}, throughProxy());
    const { loopId } = await transcript.openLoop(opening());
    const place = { loopId, branch: "main", base: 1 };
    proxy.judge = once(COMMIT, verdict);
    expect(await transcript.claim(step(), place, NOTHING, 5)).toEqual({
      type: "claimed",
      branch: "main",
      executions: 1,
    });
    proxy.judge = once(COMMIT, verdict);
    await transcript.store(write(place, { entries: [entry(1, "one")] }));
    expect(proxy.cuts).toBe(2);
    expect(await texts(transcript, "s", "main")).toEqual(["hello", "one"]);
  });

  test.each(["INSERT INTO steps", "SELECT kind"])(
    "a connection that is cut at %s: the write is made again, and a read too",
    async (word) => {
      const transcript = await opened({}, throughProxy());
      const { loopId } = await transcript.openLoop(opening());
      const place = { loopId, branch: "main", base: 1 };
      // Prepared statements go by their names: a new connection says the text once more.
      await asked(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast'",
      );
      proxy.judge = once(word, "cut");
      expect(await transcript.claim(step(), place, NOTHING, 5)).toMatchObject({ executions: 1 });
      proxy.judge = once("REPEATABLE READ", "cut");
      expect(await transcript.length("s", "main")).toBe(1);
      expect(proxy.cuts).toBe(2);
    },
  );

  test("a lock that stays is reported as busy, and the store goes on afterwards", async () => {
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
    const { fault, message } = await storeErrorOf(transcript.putText("x", 1));
    expect(fault).toBe("busy");
    expect(message).toMatch(/lock timeout/);
    await holding;
    expect(await transcript.text(await transcript.putText("x", 1))).toBe("x");
  });

  async function database(options: object = {}): Promise<Database> {
    const part = {
      name: "stream" as const,
      steps: [`CREATE TABLE pairs (id BIGINT PRIMARY KEY, n BIGINT NOT NULL);${commitsTable("stream")}`],
    };
    const target = { ...databaseTarget(url), schema: "pairs" };
    const made = await Database.open({ target, part, ...options });
    closing.push(made);
    return made;
  }

  const statement = (text: string, ...values: number[]): Statement => ({ text, values, gives: "rows" });

  test("a statement that takes too long is cancelled by the server, and said", async () => {
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

  test("two that wait for each other both go through", async () => {
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

  test("a process that sleeps in the middle of a transaction loses it, and makes it anew when it wakes", async () => {
    const made = await database({ limits: { idleMs: 100 } });
    let times = 0;
    await made.write(["s"], function* () {
      times += 1;
      yield statement("INSERT INTO pairs VALUES (1, 0)");
      if (times === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      yield statement("UPDATE pairs SET n = n + 1 WHERE id = 1");
    });
    expect(times).toBe(2);
    expect(await asked(url, "SELECT n::int FROM pairs.pairs")).toEqual([{ n: 1 }]);
  });

  test("what a transaction does not wait for fails it all the same", async () => {
    const made = await database();
    const nothing = (text: string): Statement => ({ text, values: [], gives: "nothing" });
    const write = made.write([], function* () {
      yield nothing("INSERT INTO pairs VALUES (1, 0)");
      yield nothing("INSERT INTO pairs VALUES (2, NULL)");
      yield nothing("INSERT INTO pairs VALUES (3, 0)");
    });
    await expect(write).rejects.toThrow(/null value in column "n"/);
    expect(await asked(url, "SELECT * FROM pairs.pairs")).toEqual([]);
  });
});
