import { afterAll, beforeAll, expect, test } from "vitest";
import { followUpSignal, queueModeSignal, steerSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;
let count = 0;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
});
afterAll(() => stage.close());

const hold = (gate: string) => ({ name: "hold", arguments: { gate } });
const freshGate = () => `gate-${count++}`;

async function queued(
  session: TestSession,
  wanted: { steering?: number; followUps?: number },
): Promise<void> {
  await eventually(async () => {
    const { queued } = await session.readStatus();
    return queued.steering === (wanted.steering ?? 0) && queued.followUps === (wanted.followUps ?? 0);
  });
}

test("steering that arrives while a tool runs is seen by the next model call, after the tool's result (STEER-04.1, STEER-04.3, STEER-06.5) [TMP-12, LOOP-20.1, STEER-07.2, TEST-06.3]", async () => {
  const gate = freshGate();
  const session = stage.session({
    replies: [{ toolCalls: [hold(gate)] }, { text: "Bonjour." }],
    agent: { tools: ["hold"] },
  });
  await session.start("Say hello");
  await gates.get(gate).arrived;
  await session.handle.signal(steerSignal, { id: "m1", text: "In French" });
  await queued(session, { steering: 1 });
  expect(session.listRequests()).toHaveLength(1);
  gates.get(gate).open();
  expect(await session.readResult()).toMatchObject({ text: "Bonjour." });
  expect(session.listSeenMessages(1)).toEqual([
    "user: Say hello",
    "assistant: calls hold",
    `user: passed ${gate}`,
    "user: In French",
  ]);
  expect(session.listRequests()).toHaveLength(2);
});

thoroughTest(
  "a plain text, as an operator types it into the Temporal UI, steers [STEER-01.2, TEST-06.4]",
  async () => {
    const gate = freshGate();
    const session = stage.session({
      replies: [{ toolCalls: [hold(gate)] }, { text: "Done." }],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await gates.get(gate).arrived;
    await session.handle.signal("steer", "plain words");
    await queued(session, { steering: 1 });
    gates.get(gate).open();
    await session.readResult();
    expect(session.listSeenMessages(1).at(-1)).toBe("user: plain words");
  },
);

test("a follow-up waits until the agent would stop, and continues the same loop (STEER-10.1-2, LOOP-21.1)", async () => {
  const session = stage.session({
    replies: [{ text: "First.", holdUntil: "follow" }, { text: "Second." }],
  });
  await session.start("Go");
  await stage.model.waitForHold("follow");
  await session.handle.signal(followUpSignal, "And then?");
  await queued(session, { followUps: 1 });
  stage.model.release("follow");
  expect(await session.readResult()).toMatchObject({ text: "Second." });
  expect(session.listSeenMessages(1)).toEqual(["user: Go", "assistant: First.", "user: And then?"]);
  expect(await stage.transcript.readLoops(session.id)).toHaveLength(1);
});

thoroughTest(
  "steering that arrives during the last answer causes another turn (LOOP-20.2, STEER-07.1)",
  async () => {
    const session = stage.session({
      replies: [{ text: "First.", holdUntil: "late" }, { text: "Second." }],
    });
    await session.start("Go");
    await stage.model.waitForHold("late");
    await session.handle.signal(steerSignal, "Wait");
    await queued(session, { steering: 1 });
    stage.model.release("late");
    expect(await session.readResult()).toMatchObject({ text: "Second." });
    expect(session.listSeenMessages(1)).toEqual(["user: Go", "assistant: First.", "user: Wait"]);
  },
);

thoroughTest("one at a time: each turn takes the first waiting message (STEER-02.1)", async () => {
  const gate = freshGate();
  const session = stage.session({
    replies: [{ toolCalls: [hold(gate)] }, { text: "One." }, { text: "Two." }],
    agent: { tools: ["hold"] },
  });
  await session.start("Go");
  await gates.get(gate).arrived;
  for (const words of ["first", "second"]) await session.handle.signal(steerSignal, words);
  await queued(session, { steering: 2 });
  gates.get(gate).open();
  expect(await session.readResult()).toMatchObject({ text: "Two." });
  expect(session.listSeenMessages(1).at(-1)).toBe("user: first");
  expect(session.listSeenMessages(2).slice(-2)).toEqual(["assistant: One.", "user: second"]);
});

thoroughTest(
  "all: the queue mode set by a signal drains the queue in order (STEER-02.2, STEER-03.2)",
  async () => {
    const gate = freshGate();
    const session = stage.session({
      replies: [{ toolCalls: [hold(gate)] }, { text: "Both." }],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await gates.get(gate).arrived;
    await session.handle.signal(queueModeSignal, { queue: "steering", mode: "all" });
    for (const words of ["first", "second"]) await session.handle.signal(steerSignal, words);
    await queued(session, { steering: 2 });
    gates.get(gate).open();
    expect(await session.readResult()).toMatchObject({ text: "Both." });
    expect(session.listSeenMessages(1).slice(-2)).toEqual(["user: first", "user: second"]);
  },
);

thoroughTest("cleared messages are not read (STEER-03.1)", async () => {
  const session = stage.session({ replies: [{ text: "Only.", holdUntil: "clear" }] });
  await session.start("Go");
  await stage.model.waitForHold("clear");
  await session.handle.signal(followUpSignal, "unwanted");
  await queued(session, { followUps: 1 });
  await session.handle.signal("clearQueues", "all");
  await queued(session, {});
  stage.model.release("clear");
  expect(await session.readResult()).toMatchObject({ text: "Only." });
  expect(session.listRequests()).toHaveLength(1);
});

thoroughTest(
  "one by one: steering after the first tool skips the others, each with its result (STEER-09)",
  async () => {
    const gate = freshGate();
    const session = stage.session({
      replies: [{ toolCalls: [hold(gate), hold("never-1"), hold("never-2")] }, { text: "Done." }],
      agent: { tools: ["hold"], toolStrategy: { type: "sequential" } },
    });
    await session.start("Go");
    await gates.get(gate).arrived;
    await session.handle.signal(steerSignal, "Stop that");
    await queued(session, { steering: 1 });
    gates.get(gate).open();
    await session.readResult();
    const skipped = "user: Skipped due to queued user message.";
    expect(session.listSeenMessages(1).slice(-4)).toEqual([
      `user: passed ${gate}`,
      skipped,
      skipped,
      "user: Stop that",
    ]);
    expect(gates.get("never-1").passCount).toBe(0);
  },
);

thoroughTest(
  "in batches: steering during the first batch of two skips the last three of five (STEER-08.3)",
  async () => {
    const [one, two] = [freshGate(), freshGate()];
    const calls = [one, two, "never-3", "never-4", "never-5"].map(hold);
    const session = stage.session({
      replies: [{ toolCalls: calls }, { text: "Done." }],
      agent: { tools: ["hold"], toolStrategy: { type: "batched", size: 2 } },
    });
    await session.start("Go");
    await Promise.all([gates.get(one).arrived, gates.get(two).arrived]);
    await session.handle.signal(steerSignal, "Stop that");
    await queued(session, { steering: 1 });
    gates.get(one).open();
    gates.get(two).open();
    await session.readResult();
    const skipped = "user: Skipped due to queued user message.";
    expect(session.listSeenMessages(1).slice(-6)).toEqual([
      `user: passed ${one}`,
      `user: passed ${two}`,
      skipped,
      skipped,
      skipped,
      "user: Stop that",
    ]);
  },
);

thoroughTest("a message that is sent twice with one id is delivered once", async () => {
  const session = stage.session({
    replies: [{ text: "First.", holdUntil: "twice" }, { text: "Second." }, { text: "Third." }],
  });
  await session.start("Go");
  await stage.model.waitForHold("twice");
  await session.handle.signal(steerSignal, { id: "same", text: "once" });
  await session.handle.signal(followUpSignal, { id: "same", text: "once" });
  await queued(session, { steering: 1 });
  stage.model.release("twice");
  expect(await session.readResult()).toMatchObject({ text: "Second." });
});
