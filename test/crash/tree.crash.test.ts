import { afterAll, beforeAll, expect } from "vitest";
import type { WorkerProcess } from "../../src/testing/worker-process.ts";
import { steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, listChildSessions } from "../workflows/support/agent-tree.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import {
  type CrashEnvironment,
  countTimedOutTasks,
  expectComplete,
  openCrashEnvironment,
} from "./support/crash-environment.ts";

// Kills at every step of an agent and of its sub-agents (design 3.5).

let stage: CrashEnvironment;
let worker: WorkerProcess;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

/** The worker dies while this answer is held back; another worker replaces it, and receives the answer. */
async function killWhileHeld(hold: string): Promise<void> {
  await stage.model.waitForHold(hold);
  await worker.kill("SIGKILL");
  stage.model.release(hold);
  worker = await stage.startWorker();
}

async function expectBelowWhole(root: TestSession, children: number): Promise<void> {
  const sessions = await listChildSessions(stage, root);
  expect(sessions).toHaveLength(children);
  for (const { id } of sessions) {
    const [loop, ...others] = await stage.transcript.readLoops(id);
    expect(others).toEqual([]);
    const events = await stage.transcript.readEvents(loop?.loopId ?? "", 0);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(await countTimedOutTasks(stage, id)).toBe(0);
  }
  expect(await countTimedOutTasks(stage, root.id)).toBe(0);
  expect((await root.readEvents()).filter(({ body }) => body.type === "ToolExecutionEnd")).toHaveLength(
    children,
  );
  expect(stage.model.answersRepaid()).toBe(0);
}

async function expectTreeWhole(root: TestSession, children: number): Promise<void> {
  await expectComplete(stage, root);
  await expectBelowWhole(root, children);
}

thoroughTest(
  "killed at every step of a sub-agent and of its caller: no stored answer is paid again, its unsafe tool runs once, a message is read once [STEER-01.3, SUB-01.1, SUB-05.1, RIG-04.2]",
  async () => {
    const root = createAgentTree(
      stage,
      [
        { toolCalls: [createTaskCall("scout", "Push it")], holdUntil: "caller 1" },
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
    worker = await stage.startWorker();
    await root.start("Go");
    await killWhileHeld("caller 1");
    await killWhileHeld("child 1");
    await stage.waitForStart("push");
    await root.handle.signal(steerSignal, { id: "a word", text: "Be careful" });
    await worker.kill("SIGKILL");
    worker = await stage.startWorker();
    stage.release("push");
    await killWhileHeld("child 2");
    await killWhileHeld("caller 2");
    expect(await root.readResult()).toMatchObject({ text: "Done." });
    expect(await root.readConversation()).toEqual([
      "user: Go",
      "assistant: ",
      "toolResult: Perhaps.",
      "user: Be careful",
      "assistant: Done.",
    ]);
    expect(stage.countRuns("push")).toBe(1);
    const [child] = await listChildSessions(stage, root);
    const entries = await stage.transcript.readEntries(child?.id ?? "", "main", 0, 9);
    expect(JSON.stringify(entries[2]?.message)).toContain("The outcome of this call is unknown");
    await expectTreeWhole(root, 1);
  },
  120_000,
);

thoroughTest(
  "killed between the ends of two parallel sub-agents: the caller learns of both at once, each has one result [SUB-09.2, RIG-04.2]",
  async () => {
    const root = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("early", "1"), createTaskCall("late", "2")] }, { text: "Both." }],
      {
        early: [{ text: "first", holdUntil: "early" }],
        late: [{ text: "second", holdUntil: "late" }],
      },
    );
    worker = await stage.startWorker();
    await root.start("Go");
    await Promise.all(["early", "late"].map((hold) => stage.model.waitForHold(hold)));
    await worker.kill("SIGKILL");
    worker = await stage.startWorker();
    // The second worker has reported one end to the caller, and has executed no step of the caller's own.
    stage.model.release("early");
    await eventually(async () => (await root.readStatus()).running.length === 1);
    await worker.kill("SIGKILL");
    stage.model.release("late");
    worker = await stage.startWorker();
    expect(await root.readResult()).toMatchObject({ text: "Both." });
    expect((await root.readConversation()).slice(2, 4)).toEqual(["toolResult: first", "toolResult: second"]);
    await expectTreeWhole(root, 2);
  },
);

thoroughTest(
  "a stop that arrives while no worker lives reaches the sub-agents through the next worker [SUB-10, ABT-01.3]",
  async () => {
    const root = createAgentTree(
      stage,
      [{ toolCalls: [createTaskCall("one", "1"), createTaskCall("two", "2")] }, { text: "never" }],
      {
        one: [{ text: "never", holdUntil: "stopped one" }],
        two: [{ text: "never", holdUntil: "stopped two" }],
      },
    );
    worker = await stage.startWorker();
    await root.start("Go");
    await stage.model.waitForHold("stopped one");
    await stage.model.waitForHold("stopped two");
    await worker.kill("SIGKILL");
    await root.handle.signal(stopSignal, "enough");
    worker = await stage.startWorker();
    expect(await root.readResult()).toMatchObject({ outcome: { type: "stopped", reason: "enough" } });
    await expectBelowWhole(root, 2);
    for (const { id } of await listChildSessions(stage, root)) {
      expect(await stage.transcript.readLoops(id)).toMatchObject([{ outcome: { type: "stopped" } }]);
    }
  },
);
