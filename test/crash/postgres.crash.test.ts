import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { PostgresHub } from "../../src/store/stream/postgres/postgres-hub.ts";
import { eventually } from "../support/eventually.ts";
import {
  findPostgresBinaries,
  NO_POSTGRES,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";
import { describeIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";

const call = (name: string, label: string) => ({ name, arguments: { label } });

describeIf(findPostgresBinaries() !== undefined, NO_POSTGRES)("runs whose store is PostgreSQL", () => {
  let server: PostgresServer;
  let stage: CrashEnvironment;
  let hub: PostgresHub;
  beforeAll(async () => {
    server = await startPostgres();
    const database = server.url(await server.database());
    stage = await openCrashEnvironment(database);
    hub = new PostgresHub(database);
  });
  afterAll(async () => {
    await hub?.close();
    await stage?.close();
    await server?.stop();
  });

  thoroughTest(
    "a worker is killed in its tools: its death is detected, the unsafe one is not run again, nothing is lost",
    async () => {
      const session = stage.session({
        replies: [
          { toolCalls: [call("wait_unsafe", "once"), call("wait_idempotent", "again")] },
          { text: "Done." },
        ],
        agent: { tools: ["wait_unsafe", "wait_idempotent"] },
      });
      const first = await stage.startWorker();
      await session.start("Go");
      await Promise.all(["once", "again"].map(stage.waitForStart));
      const printed = async () =>
        JSON.stringify(await hub.readSnapshot(session.id)).includes("printed by once");
      await eventually(printed, { what: "the live output" });
      await first.kill("SIGKILL");
      const second = await stage.startWorker();
      await eventually(() => stage.countRuns("again") === 2, {
        what: "the second execution",
      });
      for (const label of ["once", "again"]) stage.release(label);
      expect(await session.readResult()).toMatchObject({ text: "Done." });
      expect([stage.countRuns("once"), stage.countRuns("again")]).toEqual([1, 2]);
      expect(session.listSeenMessages(1).join("\n")).toMatch(
        /outcome of this call is unknown[\s\S]*printed by once/,
      );
      await expectComplete(stage, session);
      await second.kill();
    },
  );

  thoroughTest(
    "the database server is killed repeatedly during calls of several workers: each call runs once, and no result mentions a dead worker or the store",
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
      const workers = await Promise.all([stage.startWorker(), stage.startWorker(), stage.startWorker()]);
      for (const session of sessions) await session.start("Go");
      const ran = () =>
        sessions.flatMap((_, agent) => labels(agent)).filter((label) => stage.countRuns(label) > 0);
      // One outage is longer than an operation waits by itself.
      for (const awayMs of [200, 11_000, 500]) {
        const before = ran().length;
        await eventually(() => ran().length > before || ran().length === 8 * turns);
        await server.kill();
        await sleep(awayMs);
        await server.start();
      }
      for (const [agent, session] of sessions.entries()) {
        expect(await session.readResult()).toMatchObject({ text: "Done." });
        expect(labels(agent).map(stage.countRuns)).toEqual(labels(agent).map(() => 1));
        const told = (await session.readConversation()).join("\n");
        for (const label of labels(agent)) expect(told).toContain(`finished ${label}`);
        expect(told).not.toMatch(/unknown|worker|PostgreSQL|Transcript/i);
        await expectComplete(stage, session);
      }
      for (const worker of workers) await worker.kill("SIGKILL");
    },
    180_000,
  );

  thoroughTest(
    "the database server is killed in the middle of a run and returns: the run continues, each tool runs once",
    async () => {
      const session = stage.session({
        replies: [
          { toolCalls: [call("wait_unsafe", "one")] },
          { toolCalls: [call("wait_unsafe", "two")] },
          { text: "Done." },
        ],
        agent: { tools: ["wait_unsafe"] },
      });
      const worker = await stage.startWorker();
      await session.start("Go");
      await stage.waitForStart("one");
      await server.kill();
      stage.release("one");
      stage.release("two");
      await server.start();
      expect(await session.readResult()).toMatchObject({ text: "Done." });
      expect([stage.countRuns("one"), stage.countRuns("two")]).toEqual([1, 1]);
      expect(session.listRequests()).toHaveLength(3);
      await expectComplete(stage, session);
      await worker.kill();
    },
  );
});
