import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { PostgresHub } from "../../src/store/stream/postgres/postgres-hub.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { thorough } from "../support/depth.ts";
import { type PostgresServer, postgresBinaries, startPostgres } from "../support/postgres.ts";
import { type CrashStage, expectWhole, openCrashStage } from "./support/temporal.ts";

const call = (name: string, label: string) => ({ name, arguments: { label } });

describe.skipIf(postgresBinaries() === undefined)("runs whose store is PostgreSQL", () => {
  let server: PostgresServer;
  let stage: CrashStage;
  let hub: PostgresHub;
  beforeAll(async () => {
    server = await startPostgres();
    const database = server.url(await server.database());
    stage = await openCrashStage(database);
    hub = new PostgresHub(database);
  });
  afterAll(async () => {
    await hub?.close();
    await stage?.close();
    await server?.stop();
  });

  thorough(
    "a worker is killed in its tools: its death is recognised, the unsafe one is not run again, nothing is lost",
    async () => {
      const session = stage.session({
        replies: [
          { toolCalls: [call("wait_unsafe", "once"), call("wait_idempotent", "again")] },
          { text: "Done." },
        ],
        agent: { tools: ["wait_unsafe", "wait_idempotent"] },
      });
      const first = await stage.worker();
      await session.start("Go");
      await Promise.all(["once", "again"].map(stage.started));
      const printed = async () => JSON.stringify(await hub.snapshot(session.id)).includes("printed by once");
      await eventually(printed, { what: "the live output" });
      await first.kill("SIGKILL");
      const second = await stage.worker();
      await eventually(() => stage.runs("again") === 2, { timeoutMs: 15_000, what: "the second execution" });
      for (const label of ["once", "again"]) stage.go(label);
      expect(await session.result()).toMatchObject({ text: "Done." });
      expect([stage.runs("once"), stage.runs("again")]).toEqual([1, 2]);
      expect(session.seen(1).join("\n")).toMatch(/outcome of this call is unknown[\s\S]*printed by once/);
      await expectWhole(stage, session);
      await second.kill();
    },
    60_000,
  );

  thorough(
    "the database server is killed again and again under the calls of several workers: each runs once, and none is told of a dead worker or of the store",
    async () => {
      const turns = 6;
      const labels = (agent: number) => Array.from({ length: turns }, (_, turn) => `many-${agent}-${turn}`);
      const sessions = Array.from({ length: 8 }, () => stage.session({ agent: { tools: ["quick_unsafe"] } }));
      stage.model.script({
        conversations: sessions.map(({ id }, agent) => ({
          match: ({ conversation }) => conversation === id,
          replies: [
            ...labels(agent).map((label) => ({ toolCalls: [call("quick_unsafe", label)] })),
            { text: "Done." },
          ],
        })),
      });
      const workers = await Promise.all([stage.worker(), stage.worker(), stage.worker()]);
      for (const session of sessions) await session.start("Go");
      const ran = () =>
        sessions.flatMap((_, agent) => labels(agent)).filter((label) => stage.runs(label) > 0);
      // One outage is longer than an operation waits by itself.
      for (const awayMs of [200, 11_000, 500]) {
        const before = ran().length;
        await eventually(() => ran().length > before || ran().length === 8 * turns, { timeoutMs: 30_000 });
        await server.kill();
        await sleep(awayMs);
        await server.start();
      }
      for (const [agent, session] of sessions.entries()) {
        expect(await session.result()).toMatchObject({ text: "Done." });
        expect(labels(agent).map(stage.runs)).toEqual(labels(agent).map(() => 1));
        const told = (await session.conversation()).join("\n");
        for (const label of labels(agent)) expect(told).toContain(`finished ${label}`);
        expect(told).not.toMatch(/unknown|worker|PostgreSQL|Transcript/i);
        await expectWhole(stage, session);
      }
      for (const worker of workers) await worker.kill("SIGKILL");
    },
    180_000,
  );

  thorough(
    "the database server is killed in the middle of a run and comes back: the run goes on, each tool once",
    async () => {
      const session = stage.session({
        replies: [
          { toolCalls: [call("wait_unsafe", "one")] },
          { toolCalls: [call("wait_unsafe", "two")] },
          { text: "Done." },
        ],
        agent: { tools: ["wait_unsafe"] },
      });
      const worker = await stage.worker();
      await session.start("Go");
      await stage.started("one");
      await server.kill();
      stage.go("one");
      stage.go("two");
      await server.start();
      expect(await session.result()).toMatchObject({ text: "Done." });
      expect([stage.runs("one"), stage.runs("two")]).toEqual([1, 1]);
      expect(session.requests()).toHaveLength(3);
      await expectWhole(stage, session);
      await worker.kill();
    },
    60_000,
  );
});
