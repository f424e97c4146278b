import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { steerSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import {
  type CrashEnvironment,
  countTimedOutTasks,
  expectComplete,
  openCrashEnvironment,
  waitForExecution,
} from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";
import { superviseArmedWorker } from "./support/supervised-worker.ts";
import { listToolProcesses } from "./support/tool-processes.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
const read = (file: string) => readFileSync(join(stage.home, file), "utf8");

thoroughTest(
  "killed in an unsafe bash command: never run twice, its processes are gone, and the model is informed of what is known [TMP-07.1-2]",
  async () => {
    const command =
      "echo run >> bash.runs; echo printed so far; sleep 500 & while [ ! -e bash.go ]; do sleep 0.05; done; echo run >> bash.ends";
    const session = stage.session({
      replies: [call("bash", { command }), { text: "I look." }],
      agent: { tools: ["bash"] },
    });
    const first = await stage.startWorker();
    await session.start("Go");
    await stage.waitForStart("bash");
    await stage.printed("printed so far");
    const runId = (await session.handle.describe()).runId;
    await eventually(() => listToolProcesses(`${runId}/`).length >= 2);
    await first.kill("SIGKILL");
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "I look." });
    expect(listToolProcesses(`${runId}/`)).toEqual([]);
    stage.release("bash");
    expect(stage.countRuns("bash")).toBe(1);
    expect(existsSync(join(stage.home, "bash.ends"))).toBe(false);
    const told = session.listSeenMessages(1).at(-1) ?? "";
    expect(told).toMatch(/outcome of this call is unknown/);
    expect(told).toMatch(/started at \d{4}-\d\d-\d\dT/);
    expect(told).toMatch(/printed so far/);
    expect(told).toMatch(/Check what it has changed before you repeat it/);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "killed in tools of three classes at once: unsafe is not run again, idempotent and pure are, one result each",
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
    const first = await stage.startWorker();
    await session.start("Go");
    await Promise.all(["unsafe", "idempotent", "pure"].map(stage.waitForStart));
    await stage.printed("printed by unsafe");
    await first.kill("SIGKILL");
    await stage.startWorker();
    await eventually(() => stage.countRuns("idempotent") === 2 && stage.countRuns("pure") === 2);
    for (const label of ["unsafe", "idempotent", "pure"]) stage.release(label);
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    expect([stage.countRuns("unsafe"), stage.countRuns("idempotent"), stage.countRuns("pure")]).toEqual([
      1, 2, 2,
    ]);
    const [a, b, c] = (await session.readConversation()).slice(2);
    expect(a).toMatch(/outcome of this call is unknown[\s\S]*printed by unsafe/);
    expect([b, c]).toEqual(["toolResult: finished idempotent", "toolResult: finished pure"]);
    const keys = read("idempotent.runs")
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[1]);
    expect(keys[0]).toBe(keys[1]);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "when one of two parallel calls is lost with its worker, the other's result is used",
  async () => {
    const session = stage.session({
      replies: [
        { toolCalls: ["kept", "lost"].map((label) => ({ name: "wait_unsafe", arguments: { label } })) },
        { text: "Done." },
      ],
      agent: { tools: ["wait_unsafe"] },
    });
    const workers = [await stage.startWorker(), await stage.startWorker()];
    await session.start("Go");
    await Promise.all(["kept", "lost"].map(stage.waitForStart));
    const pidOf = (label: string) => Number(read(`${label}.runs`).split(" ")[0]);
    const lost = workers.find(({ pid }) => pid === pidOf("lost"));
    stage.release("kept");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "wait_unsafe" && storedAtMs,
      ),
    );
    await lost?.kill("SIGKILL");
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    const [kept, unknown] = (await session.readConversation()).slice(2);
    expect(kept).toBe("toolResult: finished kept");
    expect(unknown).toMatch(/outcome of this call is unknown/);
    expect([stage.countRuns("kept"), stage.countRuns("lost")]).toEqual([1, 1]);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "killed after an unsafe result was stored and before Temporal knows: the result is used",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({
      replies: [call("wait_unsafe", { label: "proxied" }), { text: "Done." }],
      agent: { tools: ["wait_unsafe"] },
    });
    const first = await stage.startWorker({ address: proxy.address });
    await session.start("Go");
    await stage.waitForStart("proxied");
    proxy.stall();
    stage.release("proxied");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "wait_unsafe" && storedAtMs,
      ),
    );
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    expect((await session.readConversation())[2]).toBe("toolResult: finished proxied");
    expect(stage.countRuns("proxied")).toBe(1);
    await expectComplete(stage, session);
  },
);

/** Content before and after, and how a call's arguments give it. */
const WRITES = {
  write_file: { args: { path: "poem.txt", content: "violets are blue\n" }, after: "violets are blue\n" },
  edit_file: {
    args: { path: "poem.txt", old_text: "red", new_text: "rather red" },
    after: "roses are rather red\n",
  },
} as const;

for (const tool of ["write_file", "edit_file"] as const) {
  thoroughTest(
    `killed after ${tool} has changed the file and before its result was stored: done once, one good result`,
    async () => {
      writeFileSync(join(stage.home, "poem.txt"), "roses are red\n");
      const { args, after } = WRITES[tool];
      const session = stage.session({
        replies: [call(tool, args), { text: "Done." }],
        agent: { tools: [tool] },
      });
      const worker = await superviseArmedWorker(stage, ["tool:end"]);
      onTestFinished(() => worker.stop());
      worker.arm("tool:end");
      await session.start("Go");
      await waitForExecution(stage, session, tool, 2);
      expect(await session.readResult()).toMatchObject({ text: "Done." });
      expect(worker.listKills()).toEqual(["tool:end"]);
      expect(read("poem.txt")).toBe(after);
      expect((await session.readEntries())[2]?.message).toMatchObject({ role: "toolResult", isError: false });
      await expectComplete(stage, session);
    },
  );
}

thoroughTest("a query that waits for a dead worker does not delay the failover of its runs", async () => {
  const session = stage.session({
    replies: [call("wait_pure", { label: "asked" }), { text: "Done." }],
    agent: { tools: ["wait_pure"] },
  });
  const first = await stage.startWorker();
  await session.start("Go");
  await stage.waitForStart("asked");
  await first.kill("SIGKILL");
  const status = session.readStatus().catch(() => undefined);
  await session.handle.signal(steerSignal, "Mind this");
  await stage.startWorker();
  await waitForExecution(stage, session, "wait_pure", 2);
  stage.release("asked");
  expect(await session.readResult()).toMatchObject({ text: "Done." });
  expect(await countTimedOutTasks(stage, session.id)).toBe(0);
  await expectComplete(stage, session);
  await status;
});

thoroughTest("the death of a worker in a tool is noticed by a sibling within 3 s (design 3.18)", async () => {
  const session = stage.session({
    replies: [call("wait_pure", { label: "noticed" }), { text: "Done." }],
    agent: { tools: ["wait_pure"] },
  });
  const first = await stage.startWorker();
  await session.start("Go");
  await stage.waitForStart("noticed");
  await stage.startWorker();
  const killedAt = Date.now();
  await first.kill("SIGKILL");
  const again = await waitForExecution(stage, session, "wait_pure", 2);
  expect(again.startedAtMs - killedAt).toBeLessThan(3000);
  stage.release("noticed");
  await session.readResult();
  await expectComplete(stage, session);
});
