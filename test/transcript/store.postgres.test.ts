import { describe, expect, test } from "vitest";
import { PostgresTranscript } from "../../src/store/transcript/postgres/postgres-transcript.ts";
import { FencedError } from "../../src/store/transcript/store-error.ts";
import { NO_POSTGRES } from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { spawnPostgresChild } from "./postgres-child.ts";
import { findMissingPostgres, PostgresFixture } from "./postgres-fixture.ts";
import { EMPTY_OUTBOX, entry, message, opening, readTexts, step, write } from "./sample-writes.ts";
import { readLines, waitForExit } from "./script-process.ts";
import { testTranscriptContract } from "./transcript-contract.ts";

const KILL_POINT = new URL("../../dist/platform/kill-point.js", import.meta.url).href;

describeIf(findMissingPostgres() === undefined, NO_POSTGRES)("a transcript in PostgreSQL", () => {
  const bench = PostgresFixture.forEachTest();

  const make = async () => {
    const url = bench.formatUrl({ schema: bench.acquireSchema() });
    return {
      // Two hundred writes of one session run one after another, on a busy machine for longer than the default deadline.
      transcript: await bench.open({ url, deadlineMs: 60_000 }),
      reopen: () => PostgresTranscript.open({ url }),
      dispose: async () => undefined,
    };
  };
  testTranscriptContract("PostgresTranscript", make, thoroughTest);

  describe("several processes on one database", () => {
    test("three processes write at once: every step is claimed once and recorded", async () => {
      const transcript = await bench.open();
      const { loopId } = await transcript.openLoop(opening());
      const script = (name: string) => `
        const transcript = await PostgresTranscript.open({ url });
        let mine = 0;
        await Promise.all(Array.from({ length: 60 }, async (_, number) => {
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
      const children = ["a", "b", "c"].map((name) => spawnPostgresChild(bench.url, script(name)));
      const mine = await Promise.all(children.map(readLines));
      expect(await Promise.all(children.map(waitForExit))).toEqual([0, 0, 0]);
      expect(mine.map(Number).reduce((sum, count) => sum + count)).toBe(60);
      const steps = await transcript.readSteps("s");
      expect(steps.filter(({ number }) => number > 0)).toHaveLength(60);
    });

    test("a process that sleeps while another one takes over its step cannot write the step", async () => {
      const transcript = await bench.open();
      const { loopId } = await transcript.openLoop(opening());
      const sleeper = spawnPostgresChild(
        bench.url,
        `const transcript = await PostgresTranscript.open({ url });
         const step = { session: "s", run: "r1", number: 1, call: 0, kind: "model", generation: 1, process: "asleep" };
         const place = { loopId: "${loopId}", branch: "main", base: 1 };
         const outbox = { entries: [], events: [] };
         await transcript.claim(step, place, outbox, 1);
         say("claimed");
         await new Promise((resolve) => process.stdin.once("data", resolve));
         const entries = [{ position: 1, origin: "tool", message: { role: "user", content: [], timestamp: 1 } }];
         await transcript.store({ ...place, step, atMs: 2, outbox, entries, result: 1 })
           .then(() => say("stored"), (error) => say(error.name));
         await transcript.close();
         process.exit(0);`,
      );
      expect(await readLines(sleeper)).toBe("claimed");
      sleeper.kill("SIGSTOP");
      const place = { loopId, branch: "main", base: 1 };
      const over = step({ generation: 2, process: "awake" });
      const claimed = await transcript.claim(over, place, EMPTY_OUTBOX, 2);
      expect(claimed).toMatchObject({ type: "claimed", executions: 2, lostExecution: { process: "asleep" } });
      sleeper.stdin!.write("go");
      sleeper.kill("SIGCONT");
      expect(await readLines(sleeper)).toBe(FencedError.name);
      await waitForExit(sleeper);
      await transcript.store(write(place, { step: over, entries: [entry(1, "mine")] }));
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "mine"]);
    });

    test("SIGKILL during writes leaves all or nothing of each write, and no lock", async () => {
      const transcript = await bench.open();
      const { loopId } = await transcript.openLoop(opening());
      const writer = spawnPostgresChild(
        bench.url,
        `const transcript = await PostgresTranscript.open({ url });
         const message = { role: "user", content: [{ type: "text", text: "z".repeat(3000) }], timestamp: 1 };
         for (let at = 1; ; at += 3) {
           const step = { session: "s", run: "r1", number: at, call: 0, kind: "t", generation: 1, process: "p" };
           const entries = [0, 1, 2].map((index) => ({ position: at + index, origin: "tool", message }));
           const outbox = { entries: [], events: [] };
           await transcript.store({ loopId: "${loopId}", branch: "main", base: at, step, atMs: 1, outbox, entries, result: at });
           say(String(at));
         }`,
      );
      let answered = -1;
      for (let seen = 0; seen < 20; seen++) answered = Number((await readLines(writer)).split("\n").at(-1));
      writer.kill("SIGKILL");
      await waitForExit(writer);
      const length = await transcript.countEntries("s", "main");
      expect((length - 1) % 3).toBe(0);
      expect(length).toBeGreaterThanOrEqual(answered + 3);
      const place = { loopId, branch: "main", base: length };
      await transcript.store(write(place, { step: step({ number: 999 }), entries: [entry(length, "on")] }));
      expect((await readTexts(transcript, "s", "main")).at(-1)).toBe("on");
    });

    test.each([
      ["commit:begin", 0],
      ["commit:end", 0],
      ["commit:done", 1],
    ])(
      "SIGKILL at the kill point %s leaves %i of one write, and the next one succeeds",
      async (point, left) => {
        const transcript = await bench.open();
        const { loopId } = await transcript.openLoop(opening());
        const writer = spawnPostgresChild(
          bench.url,
          `const { armKillPoints: arm } = await import(${JSON.stringify(KILL_POINT)});
         const transcript = await PostgresTranscript.open({ url });
         arm((passed) => { if (passed === "${point}") process.kill(process.pid, "SIGKILL"); });
         const step = { session: "s", run: "r1", number: 1, call: 0, kind: "t", generation: 1, process: "p" };
         const message = { role: "user", content: [{ type: "text", text: "one" }], timestamp: 1 };
         await transcript.store({ loopId: "${loopId}", branch: "main", base: 1, step, atMs: 1, result: 1,
           outbox: { entries: [], events: [] }, entries: [{ position: 1, origin: "tool", message }] });
         say("not killed");
         await transcript.close();`,
        );
        expect(await waitForExit(writer)).toBeNull();
        expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"].slice(0, 1 + left));
        const place = { loopId, branch: "main", base: 1 + left };
        await transcript.store(write(place, { step: step({ number: 2 }), entries: [entry(1 + left, "on")] }));
        expect(await transcript.countEntries("s", "main")).toBe(2 + left);
      },
    );

    test("an idle transcript does not keep its process alive", async () => {
      const idle = spawnPostgresChild(
        bench.url,
        "await PostgresTranscript.open({ url }).then((t) => t.unregisterProcess('x')); say('ok');",
      );
      expect(await readLines(idle)).toBe("ok");
      idle.stdin?.end();
      expect(await waitForExit(idle)).toBe(0);
    });
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

  test("many concurrent writes use no more connections than the URL allows", async () => {
    const transcript = await bench.open({
      url: bench.formatUrl({ schema: bench.schema, pool: "3", application_name: "counted" }),
    });
    let most = 0;
    let over = false;
    const counting = (async () => {
      while (!over) {
        const text = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'counted'";
        const [row] = await bench.sql<{ n: number }>(text);
        most = Math.max(most, row!.n);
      }
    })();
    await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        transcript.openLoop(opening({ step: step({ session: `s${at}`, run: `r${at}`, number: 0 }) })),
      ),
    );
    over = true;
    await counting;
    expect(most).toBe(3);
    expect(await transcript.findSessions({ limit: 200 })).toHaveLength(100);
  });

  test("ids may contain characters that the server's text type cannot store", async () => {
    const transcript = await bench.open();
    const odd = ["nul \0 in it", "\uFDD0", "\uFDD00", "' OR 1 = 1 --", "?", "$1", "emoji 😀"];
    for (const [index, id] of odd.entries()) {
      const own = step({ session: id, run: `r${index}`, number: 0 });
      await transcript.openLoop(opening({ step: own, prompts: [message(id)] }));
    }
    for (const id of odd) {
      expect((await transcript.readSession(id))?.id).toBe(id);
      expect((await transcript.readEntries(id, "main", 0, 9))[0]?.messageId).toBe(id);
    }
    expect((await transcript.findSessions({ limit: 9 })).map(({ id }) => id).sort()).toEqual([...odd].sort());
  });

  test("a number that JavaScript cannot represent exactly is rejected", async () => {
    const transcript = await bench.open();
    await transcript.openLoop(opening());
    await bench.sql("UPDATE sessions SET created_at_ms = 9007199254740993");
    await expect(transcript.readSession("s")).rejects.toThrow(/9007199254740993 is too large/);
  });

  test("works without prepared statements too, as a transaction pooler requires", async () => {
    const transcript = await bench.open({
      url: bench.formatUrl({ schema: bench.schema, prepare: "off", application_name: "bare" }),
    });
    const { loopId } = await transcript.openLoop(opening());
    await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries: [entry(1, "one")] }));
    expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"]);
  });
});
