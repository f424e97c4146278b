import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { steerSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { keepWorker } from "./support/keeper.ts";
import { carrying } from "./support/processes.ts";
import { startProxy } from "./support/proxy.ts";
import { type CrashStage, executed, expectWhole, lateTasks, openCrashStage } from "./support/temporal.ts";

let stage: CrashStage;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
const read = (file: string) => readFileSync(join(stage.home, file), "utf8");

test("killed in an unsafe bash command: never run twice, its processes are gone, and the model is told what is known [TMP-07]", async () => {
  const command =
    "echo run >> bash.runs; echo printed so far; sleep 500 & while [ ! -e bash.go ]; do sleep 0.05; done; echo run >> bash.ends";
  const session = stage.session({
    replies: [call("bash", { command }), { text: "I look." }],
    agent: { tools: ["bash"] },
  });
  const first = await stage.worker();
  await session.start("Go");
  await stage.started("bash");
  await stage.printed("printed so far");
  const runId = (await session.handle.describe()).runId;
  await eventually(() => carrying(`${runId}/`).length >= 2);
  await first.kill("SIGKILL");
  await stage.worker();
  expect(await session.result()).toMatchObject({ text: "I look." });
  expect(carrying(`${runId}/`)).toEqual([]);
  stage.go("bash");
  expect(stage.runs("bash")).toBe(1);
  expect(existsSync(join(stage.home, "bash.ends"))).toBe(false);
  const told = session.seen(1).at(-1) ?? "";
  expect(told).toMatch(/outcome of this call is unknown/);
  expect(told).toMatch(/started at \d{4}-\d\d-\d\dT/);
  expect(told).toMatch(/printed so far/);
  expect(told).toMatch(/Look at what it has changed before you repeat it/);
  await expectWhole(stage, session);
}, 40_000);

thorough(
  "killed in tools of three classes at once: unsafe not again, idempotent and pure again, one result each",
  async () => {
    const session = stage.session({
      replies: [
        {
          toolCalls: ["unsafe", "idempotent", "pure"].map((one) => ({
            name: `wait_${one}`,
            arguments: { label: one },
          })),
        },
        { text: "Done." },
      ],
      agent: { tools: ["wait_unsafe", "wait_idempotent", "wait_pure"] },
    });
    const first = await stage.worker();
    await session.start("Go");
    await Promise.all(["unsafe", "idempotent", "pure"].map(stage.started));
    await stage.printed("printed by unsafe");
    await first.kill("SIGKILL");
    await stage.worker();
    await eventually(() => stage.runs("idempotent") === 2 && stage.runs("pure") === 2, { timeoutMs: 15_000 });
    for (const label of ["unsafe", "idempotent", "pure"]) stage.go(label);
    expect(await session.result()).toMatchObject({ text: "Done." });
    expect([stage.runs("unsafe"), stage.runs("idempotent"), stage.runs("pure")]).toEqual([1, 2, 2]);
    const [a, b, c] = (await session.conversation()).slice(2);
    expect(a).toMatch(/outcome of this call is unknown[\s\S]*printed by unsafe/);
    expect([b, c]).toEqual(["toolResult: finished idempotent", "toolResult: finished pure"]);
    const keys = read("idempotent.runs")
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[1]);
    expect(keys[0]).toBe(keys[1]);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "of two parallel calls one is lost with its worker: the other's result is used",
  async () => {
    const session = stage.session({
      replies: [
        { toolCalls: ["kept", "lost"].map((label) => ({ name: "wait_unsafe", arguments: { label } })) },
        { text: "Done." },
      ],
      agent: { tools: ["wait_unsafe"] },
    });
    const workers = [await stage.worker(), await stage.worker()];
    await session.start("Go");
    await Promise.all(["kept", "lost"].map(stage.started));
    const pidOf = (label: string) => Number(read(`${label}.runs`).split(" ")[0]);
    const lost = workers.find(({ pid }) => pid === pidOf("lost"));
    stage.go("kept");
    await eventually(async () =>
      (await stage.transcript.steps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "wait_unsafe" && storedAtMs,
      ),
    );
    await lost?.kill("SIGKILL");
    await stage.worker();
    expect(await session.result()).toMatchObject({ text: "Done." });
    const [kept, unknown] = (await session.conversation()).slice(2);
    expect(kept).toBe("toolResult: finished kept");
    expect(unknown).toMatch(/outcome of this call is unknown/);
    expect([stage.runs("kept"), stage.runs("lost")]).toEqual([1, 1]);
    await expectWhole(stage, session);
  },
  40_000,
);

thorough(
  "killed after an unsafe result was stored and before Temporal knows: the result is used",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({
      replies: [call("wait_unsafe", { label: "proxied" }), { text: "Done." }],
      agent: { tools: ["wait_unsafe"] },
    });
    const first = await stage.worker({ address: proxy.address });
    await session.start("Go");
    await stage.started("proxied");
    proxy.stall();
    stage.go("proxied");
    await eventually(async () =>
      (await stage.transcript.steps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "wait_unsafe" && storedAtMs,
      ),
    );
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.worker();
    expect(await session.result()).toMatchObject({ text: "Done." });
    expect((await session.conversation())[2]).toBe("toolResult: finished proxied");
    expect(stage.runs("proxied")).toBe(1);
    await expectWhole(stage, session);
  },
  40_000,
);

/** Content before and after, and how a call says it. */
const WRITES = {
  write_file: { args: { path: "poem.txt", content: "violets are blue\n" }, after: "violets are blue\n" },
  edit_file: {
    args: { path: "poem.txt", old_text: "red", new_text: "rather red" },
    after: "roses are rather red\n",
  },
} as const;

for (const tool of ["write_file", "edit_file"] as const) {
  (tool === "write_file" ? test : thorough)(
    `killed after ${tool} has changed the file and before its result was stored: done once, one good result`,
    async () => {
      writeFileSync(join(stage.home, "poem.txt"), "roses are red\n");
      const { args, after } = WRITES[tool];
      const session = stage.session({
        replies: [call(tool, args), { text: "Done." }],
        agent: { tools: [tool] },
      });
      const worker = await keepWorker(stage, ["tool:end"]);
      onTestFinished(() => worker.stop());
      worker.arm("tool:end");
      await session.start("Go");
      await executed(stage, session, tool, 2);
      expect(await session.result()).toMatchObject({ text: "Done." });
      expect(worker.killed()).toEqual(["tool:end"]);
      expect(read("poem.txt")).toBe(after);
      expect((await session.entries())[2]?.message).toMatchObject({ role: "toolResult", isError: false });
      await expectWhole(stage, session);
    },
    40_000,
  );
}

thorough(
  "a query that is waiting for a dead worker does not delay the failover of its runs",
  async () => {
    const session = stage.session({
      replies: [call("wait_pure", { label: "asked" }), { text: "Done." }],
      agent: { tools: ["wait_pure"] },
    });
    const first = await stage.worker();
    await session.start("Go");
    await stage.started("asked");
    await first.kill("SIGKILL");
    const status = session.status().catch(() => undefined);
    await session.handle.signal(steerSignal, "Mind this");
    await stage.worker();
    await executed(stage, session, "wait_pure", 2);
    stage.go("asked");
    expect(await session.result()).toMatchObject({ text: "Done." });
    expect(await lateTasks(stage, session.id)).toBe(0);
    await expectWhole(stage, session);
    await status;
  },
  40_000,
);

thorough(
  "the death of a worker in a tool is noticed by a sibling within 3 s (design 3.18)",
  async () => {
    const session = stage.session({
      replies: [call("wait_pure", { label: "noticed" }), { text: "Done." }],
      agent: { tools: ["wait_pure"] },
    });
    const first = await stage.worker();
    await session.start("Go");
    await stage.started("noticed");
    await stage.worker();
    const killedAt = Date.now();
    await first.kill("SIGKILL");
    const again = await executed(stage, session, "wait_pure", 2);
    expect(again.startedAtMs - killedAt).toBeLessThan(3000);
    stage.go("noticed");
    await session.result();
    await expectWhole(stage, session);
  },
  40_000,
);
