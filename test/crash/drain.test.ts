import { afterAll, beforeAll, expect, test } from "vitest";
import { carrying } from "./support/processes.ts";
import { type CrashStage, expectWhole, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

function bash(label: string) {
  const command = `echo run >> ${label}.runs; echo printed by ${label}; while [ ! -e ${label}.go ]; do sleep 0.05; done; echo finished`;
  return { toolCalls: [{ name: "bash", arguments: { command } }] };
}

test("SIGTERM: a command that ends in time keeps its result, and the run goes on with the next worker", async () => {
  const session = stage.session({ replies: [bash("short"), { text: "Done." }], agent: { tools: ["bash"] } });
  const first = await stage.worker();
  await session.start("Go");
  await stage.started("short");
  const ended = first.kill("SIGTERM");
  await stage.worker();
  stage.go("short");
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(await session.result()).toMatchObject({ text: "Done." });
  expect((await session.conversation())[2]).toContain("finished");
  expect(stage.runs("short")).toBe(1);
  await expectWhole(stage, session);
}, 40_000);

test("SIGTERM: a command that does not end in time is handed back as unknown, and never run again", async () => {
  const session = stage.session({ replies: [bash("long"), { text: "I look." }], agent: { tools: ["bash"] } });
  const first = await stage.worker();
  await session.start("Go");
  await stage.started("long");
  await stage.printed("printed by long");
  const { runId } = await session.handle.describe();
  const ended = first.kill("SIGTERM");
  await stage.worker();
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(await session.result()).toMatchObject({ text: "I look." });
  expect((await session.conversation())[2]).toMatch(/outcome of this call is unknown[\s\S]*printed by long/);
  expect(carrying(`${runId}/`)).toEqual([]);
  expect(stage.runs("long")).toBe(1);
  await expectWhole(stage, session);
}, 40_000);
