import { afterAll, beforeAll, expect, test } from "vitest";
import { steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool({ name: "peek", quick: true })] });
});
afterAll(() => stage.close());

const peek = (gate: string) => ({ name: "peek", arguments: { gate } });

async function scheduled(session: TestSession): Promise<string[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
  );
}

test("a quick tool runs as a local activity: no event of its own but a marker (design 3.17)", async () => {
  gates.get("open").open();
  const session = stage.session({
    replies: [{ toolCalls: [peek("open")] }, { text: "Done." }],
    agent: { tools: ["peek"] },
  });
  await session.run("Go");
  expect(await scheduled(session)).toEqual(["open-loop", "call-model", "call-model", "close-loop"]);
  expect(await session.readConversation()).toContain("toolResult: passed open");
});

test("with local steps turned off it appears in the timeline", async () => {
  gates.get("open").open();
  const session = stage.session({
    replies: [{ toolCalls: [peek("open")] }, { text: "Done." }],
    agent: { tools: ["peek"] },
  });
  await session.run("Go", { settings: { localSteps: false } });
  expect(await scheduled(session)).toEqual(["open-loop", "call-model", "peek", "call-model", "close-loop"]);
});

thoroughTest(
  "a quick tool that takes longer than two seconds moves to an activity, and the run continues with one result",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [peek("slow")] }, { text: "Done." }],
      agent: { tools: ["peek"] },
    });
    await session.start("Go");
    await gates.get("slow").arrived;
    const again = session.handle.result();
    setTimeout(() => gates.get("slow").open(), 3000).unref();
    expect(await again).toMatchObject({ text: "Done." });
    expect(await scheduled(session)).toEqual(["open-loop", "call-model", "peek", "call-model", "close-loop"]);
    expect((await session.readConversation()).filter((line) => line.startsWith("toolResult"))).toEqual([
      "toolResult: passed slow",
    ]);
  },
);

thoroughTest("steering that arrives during a local tool waits for it, and is read once", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [peek("steered")] }, { text: "One." }, { text: "Two." }],
    agent: { tools: ["peek"] },
  });
  await session.start("Go");
  await gates.get("steered").arrived;
  await session.handle.signal(steerSignal, "Look here");
  gates.get("steered").open();
  await session.readResult();
  const conversation = await session.readConversation();
  expect(conversation.filter((line) => line === "user: Look here")).toHaveLength(1);
  expect(conversation.at(-1)).toMatch(/^assistant/);
});

thoroughTest("stop that arrives during a local tool ends the run", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [peek("stopped")] }, { text: "Never." }],
    agent: { tools: ["peek"] },
  });
  await session.start("Go");
  await gates.get("stopped").arrived;
  await session.handle.signal(stopSignal, "enough");
  expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
  gates.get("stopped").open();
  expect((await session.readEventTypes()).at(-1)).toBe("AgentEnd");
  expect(session.listRequests()).toHaveLength(1);
});
