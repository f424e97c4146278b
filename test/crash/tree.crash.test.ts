import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import type { WorkerProcess } from "../../src/testing/worker-process.ts";
import { steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { childSessions, family, task } from "../workflows/support/family.ts";
import type { Session } from "../workflows/support/session.ts";
import { type CrashStage, expectWhole, lateTasks, openCrashStage } from "./support/temporal.ts";

// Kills at every step of an agent and of its sub-agents (design 3.5).

let stage: CrashStage;
let worker: WorkerProcess;

beforeAll(async () => {
  stage = await openCrashStage();
});
afterAll(() => stage.close());

/** The worker dies while this answer is held back; another one takes its place, and gets it. */
async function killWhileHeld(hold: string): Promise<void> {
  await stage.model.waitForHold(hold);
  await worker.kill("SIGKILL");
  stage.model.release(hold);
  worker = await stage.worker();
}

async function expectBelowWhole(root: Session, children: number): Promise<void> {
  const sessions = await childSessions(stage, root);
  expect(sessions).toHaveLength(children);
  for (const { id } of sessions) {
    const [loop, ...others] = await stage.transcript.loops(id);
    expect(others).toEqual([]);
    const events = await stage.transcript.events(loop?.loopId ?? "", 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(await lateTasks(stage, id)).toBe(0);
  }
  expect(await lateTasks(stage, root.id)).toBe(0);
  expect((await root.events()).filter(({ body }) => body.type === "ToolExecutionEnd")).toHaveLength(children);
  expect(stage.model.answersRepaid()).toBe(0);
}

async function expectTreeWhole(root: Session, children: number): Promise<void> {
  await expectWhole(stage, root);
  await expectBelowWhole(root, children);
}

thorough(
  "killed at every step of a sub-agent and of its caller: no stored answer is paid again, its unsafe tool runs once, a message is read once [SUB-01, SUB-05, RIG-04, STEER-01]",
  async () => {
    const root = family(
      stage,
      [
        { toolCalls: [task("scout", "Push it")], holdUntil: "caller 1" },
        { text: "Done.", holdUntil: "caller 2" },
      ],
      {
        scout: [
          { toolCalls: [{ name: "wait_unsafe", arguments: { label: "push" } }], holdUntil: "child 1" },
          { text: "Perhaps.", holdUntil: "child 2" },
        ],
      },
      {},
      { tools: ["wait_unsafe"] },
    );
    worker = await stage.worker();
    await root.start("Go");
    await killWhileHeld("caller 1");
    await killWhileHeld("child 1");
    await stage.started("push");
    await root.handle.signal(steerSignal, { id: "a word", text: "Be careful" });
    await worker.kill("SIGKILL");
    worker = await stage.worker();
    stage.go("push");
    await killWhileHeld("child 2");
    await killWhileHeld("caller 2");
    expect(await root.result()).toMatchObject({ text: "Done." });
    expect(await root.conversation()).toEqual([
      "user: Go",
      "assistant: ",
      "toolResult: Perhaps.",
      "user: Be careful",
      "assistant: Done.",
    ]);
    expect(stage.runs("push")).toBe(1);
    const [child] = await childSessions(stage, root);
    const entries = await stage.transcript.entries(child?.id ?? "", "main", 0, 9);
    expect(JSON.stringify(entries[2]?.message)).toContain("The outcome of this call is unknown");
    await expectTreeWhole(root, 1);
  },
  120_000,
);

thorough(
  "killed between the ends of two that run side by side: the caller hears of both at once, each has one result [SUB-09, RIG-04]",
  async () => {
    const root = family(stage, [{ toolCalls: [task("early", "1"), task("late", "2")] }, { text: "Both." }], {
      early: [{ text: "first", holdUntil: "early" }],
      late: [{ text: "second", holdUntil: "late" }],
    });
    worker = await stage.worker();
    await root.start("Go");
    await Promise.all(["early", "late"].map((hold) => stage.model.waitForHold(hold)));
    await worker.kill("SIGKILL");
    worker = await stage.worker();
    // The second worker has told the caller of one end, and has done no step of the caller's own.
    stage.model.release("early");
    await eventually(async () => (await root.status()).running.length === 1, { timeoutMs: 30_000 });
    await worker.kill("SIGKILL");
    stage.model.release("late");
    worker = await stage.worker();
    expect(await root.result()).toMatchObject({ text: "Both." });
    expect((await root.conversation()).slice(2, 4)).toEqual(["toolResult: first", "toolResult: second"]);
    await expectTreeWhole(root, 2);
  },
  90_000,
);

thorough(
  "a stop that comes while no worker lives reaches the sub-agents of the next one [SUB-10, ABT-01]",
  async () => {
    const root = family(stage, [{ toolCalls: [task("one", "1"), task("two", "2")] }, { text: "never" }], {
      one: [{ text: "never", holdUntil: "stopped one" }],
      two: [{ text: "never", holdUntil: "stopped two" }],
    });
    worker = await stage.worker();
    await root.start("Go");
    await stage.model.waitForHold("stopped one");
    await stage.model.waitForHold("stopped two");
    await worker.kill("SIGKILL");
    await root.handle.signal(stopSignal, "enough");
    worker = await stage.worker();
    expect(await root.result()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
    await expectBelowWhole(root, 2);
    for (const { id } of await childSessions(stage, root)) {
      expect(await stage.transcript.loops(id)).toMatchObject([{ outcome: { type: "stopped" } }]);
    }
  },
  60_000,
);
