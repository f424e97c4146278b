import { afterAll, beforeAll, expect } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { promptUpdate, steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;

const tick = defineTool({
  name: "tick",
  description: "Does nothing",
  inputSchema: z.object({ n: z.number() }),
  replay: "pure",
  execute: ({ n }) => `tick ${n}`,
});

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [tick, gates.createTool()] });
});
afterAll(() => stage.close());

const SETTINGS = { rotateAfterEvents: 30 };
const TURNS = 30;

type Run = { runId: string; length: number; timeoutSeconds: number };

/** The runs of the chain, oldest first. */
async function chain(session: TestSession): Promise<Run[]> {
  const runs: Run[] = [];
  const found = stage.client.workflow.list({ query: `WorkflowId = "${session.id}"` });
  for await (const { runId } of found) {
    const { raw } = await stage.client.workflow.getHandle(session.id, runId).describe();
    runs.unshift({
      runId,
      length: Number(raw.workflowExecutionInfo?.historyLength),
      timeoutSeconds: Number(raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds),
    });
  }
  return runs;
}

thoroughTest(
  "thirty turns over many continuations end as if there had been none (design 3.4, 3.13) [TMP-03.1]",
  async () => {
    const session = stage.session({
      replies: [
        ...Array.from({ length: TURNS - 1 }, (_, n) => ({ toolCalls: [{ name: "tick", arguments: { n } }] })),
        { text: "Thirty." },
      ],
      agent: { tools: ["tick"] },
    });
    const result = await session.run("Go", { settings: SETTINGS });
    expect(result).toMatchObject({
      outcome: { type: "answered" },
      text: "Thirty.",
      branch: "main",
      position: 2 * TURNS - 1,
    });
    const conversation = await session.readConversation();
    expect(conversation).toHaveLength(2 * TURNS);
    expect(conversation.filter((line) => line.startsWith("toolResult"))).toEqual(
      Array.from({ length: TURNS - 1 }, (_, n) => `toolResult: tick ${n}`),
    );
    expect(await stage.transcript.readLoops(session.id)).toHaveLength(1);
    const events = await session.readEvents();
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index));
    expect(events.filter(({ body }) => body.type === "TurnStart")).toHaveLength(TURNS);
    expect(events.filter(({ body }) => body.type === "AgentEnd")).toHaveLength(1);
    expect(stage.model.answersRepaid()).toBe(0);
    const runs = await eventually(async () => {
      const seen = await chain(session);
      return seen.length > 5 && seen;
    });
    for (const { length, timeoutSeconds } of runs) {
      expect(length).toBeLessThan(70);
      expect(timeoutSeconds).toBe(5);
    }
    const { searchAttributes } = await session.handle.describe();
    expect(searchAttributes).toMatchObject({
      HoldfastAgent: ["test-agent"],
      HoldfastModel: ["test-model"],
      HoldfastSession: [session.id],
      HoldfastStatus: ["completed"],
      HoldfastTurns: [TURNS],
    });
  },
);

thoroughTest("a message id is remembered across continue-as-new", async () => {
  const ticks = Array.from({ length: 12 }, (_, n) => ({ toolCalls: [{ name: "tick", arguments: { n } }] }));
  const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
  const session = stage.session({
    replies: [hold("first"), ...ticks, hold("second"), { text: "Done." }],
    agent: { tools: ["tick", "hold"] },
  });
  await session.start("Go", { settings: SETTINGS });
  await gates.get("first").arrived;
  const before = (await session.handle.describe()).runId;
  await session.handle.signal(steerSignal, { id: "same", text: "Only once" });
  gates.get("first").open();
  await gates.get("second").arrived;
  expect((await session.handle.describe()).runId).not.toBe(before);
  await session.handle.signal(steerSignal, { id: "same", text: "Only once" });
  gates.get("second").open();
  await session.readResult();
  expect((await session.readConversation()).filter((line) => line === "user: Only once")).toHaveLength(1);
});

thoroughTest(
  "an interactive run continues as new while it waits, keeps waiting and answers the next prompt",
  async () => {
    const session = stage.session({
      replies: [
        ...Array.from({ length: 6 }, (_, n) => ({ toolCalls: [{ name: "tick", arguments: { n } }] })),
        { text: "One." },
        { text: "Two." },
      ],
      agent: { tools: ["tick"] },
    });
    await session.start("First", { mode: "interactive", settings: { rotateAfterEvents: 20 } });
    const waiting = () => eventually(async () => (await session.readStatus()).status === "waiting");
    await waiting();
    await session.handle.executeUpdate(promptUpdate, { args: ["Second"] });
    await waiting();
    expect((await session.readConversation()).slice(-3)).toEqual([
      "assistant: One.",
      "user: Second",
      "assistant: Two.",
    ]);
    await session.handle.signal(stopSignal);
    expect(await session.readResult()).toMatchObject({ text: "Two." });
  },
);

thoroughTest("an absurdly small bound does not make a waiting run continue as new forever", async () => {
  const session = stage.session({ replies: [{ text: "One." }] });
  await session.start("First", { mode: "interactive", settings: { rotateAfterEvents: 1 } });
  try {
    await eventually(async () => (await session.readStatus()).status === "waiting");
    const { runId } = await session.handle.describe();
    await session.handle.signal(steerSignal, "One more event");
    await eventually(async () => (await session.readStatus()).queued.steering === 1);
    expect((await chain(session)).findIndex((run) => run.runId === runId)).toBeGreaterThan(-1);
    expect((await chain(session)).length).toBeLessThan(6);
  } finally {
    await session.handle.terminate();
  }
});
