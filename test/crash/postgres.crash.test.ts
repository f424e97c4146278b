import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresHub } from "../../src/stream/postgres/postgres-hub.ts";
import { eventually } from "../../src/testing/eventually.ts";
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

  test("a worker is killed in its tools: its death is recognised, the unsafe one is not run again, nothing is lost", async () => {
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
  }, 60_000);

  test("the database server is killed in the middle of a run and comes back: the run goes on, each tool once", async () => {
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
  }, 60_000);
});
