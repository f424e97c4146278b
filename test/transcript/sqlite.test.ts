import { describe, expect, test } from "vitest";
import { checkIntegrity } from "../../src/store/transcript/sqlite/integrity.ts";
import { LATEST_VERSION } from "../../src/store/transcript/sqlite/migrations.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { isThorough } from "../support/test-depth.ts";
import { entry, opening, readTexts, step, write } from "./sample-writes.ts";
import { readLines, waitForExit } from "./script-process.ts";
import { spawnSqliteChild } from "./sqlite-child.ts";
import { catchStoreError, SqliteFixture, SqliteTranscriptPool } from "./sqlite-fixture.ts";
import { testTranscriptContract } from "./transcript-contract.ts";

const bench = SqliteFixture.forEachTest();

const pool = SqliteTranscriptPool.forAllTests();

testTranscriptContract("SqliteTranscript", async () => {
  const transcript = await pool.take();
  return {
    transcript,
    reopen: () => SqliteTranscript.open({ path: transcript.path }),
    dispose: async () => pool.giveBack(transcript),
  };
});

describe("several processes on one file", () => {
  test("four processes write at once: every step is claimed once and recorded", async () => {
    const transcript = await bench.open();
    const { loopId } = await transcript.openLoop(opening());
    const script = (name: string) => `
      const transcript = await SqliteTranscript.open({ path });
      let mine = 0;
      await Promise.all(Array.from({ length: 100 }, async (_, number) => {
        const step = { session: "s", run: "r1", number: number + 1, call: 0, kind: "t", generation: 1,
          process: "${name}", activityId: "1" };
        const place = { loopId: "${loopId}", branch: "main", base: 1 };
        const claimed = await transcript.claim(step, place, { entries: [], events: [] }, 1);
        if (claimed.type === "stored" || claimed.executions > 1) return;
        mine += 1;
        const message = { role: "user", content: [], timestamp: 1 };
        await transcript.store({ ...place, step, atMs: 1, outbox: { entries: [], events: [] },
          entries: [{ position: number + 1, origin: "tool", message }], result: 1 })
          .catch((error) => { if (error.name !== "FencedError") throw error; });
      }));
      await transcript.close();
      say(String(mine));`;
    const children = ["a", "b", "c", "d"].map((name) => spawnSqliteChild(bench.path, script(name)));
    const mine = await Promise.all(children.map(readLines));
    expect(await Promise.all(children.map(waitForExit))).toEqual([0, 0, 0, 0]);
    expect(mine.map(Number).reduce((sum, count) => sum + count)).toBe(100);
    expect((await transcript.readSteps("s")).filter(({ number }) => number > 0)).toHaveLength(100);
  });

  test("processes that open a new file at the same time create it once", async () => {
    const script =
      "const t = await SqliteTranscript.open({ path }); await t.unregisterProcess('x'); await t.close(); say('ok');";
    const children = Array.from({ length: 3 }, () => spawnSqliteChild(bench.path, script));
    expect(await Promise.all(children.map(readLines))).toEqual(["ok", "ok", "ok"]);
    await Promise.all(children.map(waitForExit));
    const sql = new SqliteConnection(bench.path);
    expect(sql.all("SELECT version FROM migrations")).toHaveLength(LATEST_VERSION);
    sql.close();
  });

  test("SIGKILL during writes leaves all or nothing of each write", async () => {
    const transcript = await bench.open();
    const { loopId } = await transcript.openLoop(opening());
    for (let round = 0; round < (isThorough ? 3 : 1); round++) {
      const begin = await transcript.countEntries("s", "main");
      const writer = spawnSqliteChild(
        bench.path,
        `
        const transcript = await SqliteTranscript.open({ path });
        const message = { role: "user", content: [{ type: "text", text: "z".repeat(3000) }], timestamp: 1 };
        for (let at = ${begin}, number = ${begin}; ; at += 3, number++) {
          const step = { session: "s", run: "r1", number, call: 0, kind: "t", generation: 1, process: "p" };
          const entries = [0, 1, 2].map((index) => ({ position: at + index, origin: "tool", message }));
          const outbox = { entries: [], events: [{ sequence: at, atMs: 1, body: { type: "MessageStart", position: at } }] };
          transcript.store({ loopId: "${loopId}", branch: "main", base: at, step, atMs: 1, outbox, entries, result: at })
            .then(() => say(String(at)));
          if (number % 5 === 4) await new Promise((resolve) => setImmediate(resolve));
        }`,
      );
      let answered = -1;
      for (let seen = 0; seen < 5; seen++) answered = Number((await readLines(writer)).split("\n").at(-1));
      writer.kill("SIGKILL");
      await waitForExit(writer);
      const length = await transcript.countEntries("s", "main");
      expect((length - begin) % 3).toBe(0);
      expect(length).toBeGreaterThanOrEqual(answered + 3);
      const steps = await transcript.readSteps("s");
      expect(steps.filter(({ number }) => number >= begin)).toHaveLength((length - begin) / 3);
    }
  });

  test("an idle transcript does not keep its process alive", async () => {
    const idle = spawnSqliteChild(
      bench.path,
      "await SqliteTranscript.open({ path }).then((t) => t.unregisterProcess('x')); say('ok');",
    );
    expect(await readLines(idle)).toBe("ok");
    idle.stdin?.end();
    expect(await waitForExit(idle)).toBe(0);
  });

  test("close lets pending writes finish, and rejects later calls", async () => {
    const transcript = await bench.open();
    await transcript.openLoop(opening());
    const writes = Promise.all(
      Array.from({ length: 50 }, (_, index) => transcript.putText(`text ${index}`, 1)),
    );
    await transcript.close();
    const hashes = await writes;
    const again = await bench.open();
    expect(await again.readText(hashes[49]!)).toBe("text 49");
    await expect(transcript.putText("late", 1)).rejects.toThrow(/closed/);
    await expect(transcript.readSession("s")).rejects.toThrow(/closed/);
  });
});

test("a fork or rewind adds a branch, or a session and its branch: no entry and no content is copied", async () => {
  const transcript = await bench.open();
  const { loopId } = await transcript.openLoop(opening());
  const entries = Array.from({ length: 50 }, (_, index) => entry(index + 1, `${index} `.repeat(3000)));
  await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries }));
  const sql = new SqliteConnection(bench.path);
  const rows = (table: string) => sql.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0;
  const counts = () => ["entries", "contents", "branches", "sessions", "loops", "events"].map(rows);
  const before = counts();
  await transcript.fork({ session: "s", atMs: 1, at: { position: 40 }, name: "x" });
  await transcript.fork({ session: "s", atMs: 1, at: { branch: "x", position: 20 }, into: "t" });
  await transcript.rewind({ session: "s", atMs: 1, to: { position: 10 }, endedLoopIds: [loopId] });
  expect(await readTexts(transcript, "t", "main")).toHaveLength(20);
  const [entriesNow, contents, branches, sessions, loops, events] = counts();
  expect([entriesNow, contents, loops, events]).toEqual([before[0], before[1], before[4], before[5]]);
  expect([branches, sessions]).toEqual([(before[2] ?? 0) + 3, (before[3] ?? 0) + 1]);
  sql.close();
});

describe("a locked file", () => {
  const hold = `
    const sql = new Sql(path);
    sql.exec("PRAGMA locking_mode = NORMAL; BEGIN EXCLUSIVE");
    say("held");
    process.stdin.once("data", () => { sql.exec("COMMIT"); say("freed"); process.exit(0); });`;

  test("a write waits for the lock without blocking this process, and succeeds", async () => {
    const transcript = await bench.open();
    const holder = spawnSqliteChild(bench.path, hold);
    expect(await readLines(holder)).toBe("held");
    const heldUpMs = await turnMs(async () => {
      const writing = Promise.all([transcript.openLoop(opening()), transcript.putText("x", 1)]);
      expect(await transcript.readSession("s")).toBeUndefined();
      holder.stdin!.write("go");
      expect((await writing)[0].loopId).toBe("s.v.m.1");
    });
    expect(heldUpMs).toBeLessThan(50);
    await waitForExit(holder);
  });

  test("a lock that stays is reported as busy, and the store continues afterwards", async () => {
    const transcript = await bench.open({ busyMs: 100 });
    const holder = spawnSqliteChild(bench.path, hold);
    await readLines(holder);
    const { fault, message } = await catchStoreError(transcript.openLoop(opening()));
    expect(fault).toBe("busy");
    expect(message).toContain(bench.path);
    holder.stdin!.write("go");
    await waitForExit(holder);
    expect((await transcript.openLoop(opening())).loopId).toBe("s.v.m.1");
  });

  test("writes that fail at a lock report that the file is locked, and leave no partial data and no damage [PHI-12.1-2]", async () => {
    const transcript = await bench.open({ busyMs: 100 });
    const { loopId } = await transcript.openLoop(opening());
    const save = (number: number, at: number) =>
      transcript.store(
        write(
          { loopId, branch: "main", base: at },
          { step: step({ number }), entries: [entry(at, "a"), entry(at + 1, "b")] },
        ),
      );
    await save(1, 1);
    const holder = spawnSqliteChild(bench.path, hold);
    await readLines(holder);
    const errors = await Promise.all([2, 3, 4].map((number) => catchStoreError(save(number, 3))));
    for (const { fault, message } of errors) {
      expect(fault).toBe("busy");
      expect(message).toContain("locked");
    }
    holder.stdin!.write("go");
    await waitForExit(holder);
    expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "a", "b"]);
    expect((await transcript.readSteps("s")).map(({ number }) => number)).not.toContain(2);
    const sql = new SqliteConnection(bench.path);
    expect(sql.get("PRAGMA integrity_check")).toMatchObject({ integrity_check: "ok" });
    sql.close();
    await save(2, 3);
    expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "a", "b", "a", "b"]);
  });

  /** Creates the file, and locks it exclusively until the returned process reads something. */
  async function lockNewFile() {
    // A connection of this process that is closed late would itself lock the file.
    const maker = spawnSqliteChild(
      bench.path,
      "await (await SqliteTranscript.open({ path })).close(); say('made');",
    );
    await readLines(maker);
    await waitForExit(maker);
    const holder = spawnSqliteChild(
      bench.path,
      `const sql = new Sql(path); sql.get("PRAGMA locking_mode = EXCLUSIVE"); sql.exec("BEGIN IMMEDIATE; COMMIT");
       sql.run("DELETE FROM inbox"); say("held"); process.stdin.once("data", () => process.exit(0));`,
    );
    expect(await readLines(holder)).toBe("held");
    return holder;
  }

  test("an exclusively locked file is reported as busy on opening too", async () => {
    const holder = await lockNewFile();
    expect((await catchStoreError(SqliteTranscript.open({ path: bench.path, busyMs: 100 }))).fault).toBe(
      "busy",
    );
    holder.stdin!.write("go");
    await waitForExit(holder);
    await (await bench.open()).openLoop(opening());
  });

  test("opening to read, and a check on request, wait while the file is locked", async () => {
    const holder = await lockNewFile();
    const locked = SqliteTranscript.open({ path: bench.path, readOnly: true, busyMs: 1 });
    expect((await catchStoreError(locked)).fault).toBe("busy");
    const opened = SqliteTranscript.open({ path: bench.path, readOnly: true });
    const checked = checkIntegrity(bench.path);
    holder.stdin!.write("go");
    await (await opened).close();
    expect(await checked).toEqual({ type: "sound" });
    await waitForExit(holder);
  });
});

test("large reads and writes do not block the main thread", async () => {
  const transcript = await bench.open();
  const { loopId } = await transcript.openLoop(opening());
  const entries = Array.from({ length: 100 }, (_, index) => entry(index + 1, `${index} `.repeat(20_000)));
  const heldUpMs = await turnMs(async () => {
    for (let at = 0; at < entries.length; at += 10) {
      const part = entries.slice(at, at + 10);
      const place = { loopId, branch: "main", base: at + 1 };
      await transcript.store(write(place, { step: step({ number: at + 1 }), entries: part }));
    }
    expect(await transcript.readEntries("s", "main", 0, 1000)).toHaveLength(101);
  });
  expect(heldUpMs).toBeLessThan(50);
});

/** Returns the average length of a turn of the event loop: a busy machine delays one turn, not all of them. */
async function turnMs(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  const begin = performance.now();
  setImmediate(count);
  await work();
  over = true;
  return (performance.now() - begin) / (turns + 1);
}
