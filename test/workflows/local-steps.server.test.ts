import { afterAll, beforeAll, expect, test } from "vitest";
import { steerSignal, stopSignal } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { Gates } from "./support/gates.ts";
import type { Session } from "./support/session.ts";
import { openStage, type Stage } from "./support/temporal.ts";

const gates = new Gates();
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ tools: [gates.tool({ name: "peek", quick: true })] });
});
afterAll(() => stage.close());

const peek = (gate: string) => ({ name: "peek", arguments: { gate } });

async function scheduled(session: Session): Promise<string[]> {
  const { events } = await session.handle.fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
  );
}

test("a quick tool runs as a local activity: no event of its own but a marker (design 3.17)", async () => {
  gates.of("open").open();
  const session = stage.session({
    replies: [{ toolCalls: [peek("open")] }, { text: "Done." }],
    agent: { tools: ["peek"] },
  });
  await session.run("Go");
  expect(await scheduled(session)).toEqual(["open-loop", "model", "model", "close-loop"]);
  expect(await session.conversation()).toContain("toolResult: passed open");
});

test("with local steps turned off it is seen in the timeline", async () => {
  gates.of("open").open();
  const session = stage.session({
    replies: [{ toolCalls: [peek("open")] }, { text: "Done." }],
    agent: { tools: ["peek"] },
  });
  await session.run("Go", { settings: { localSteps: false } });
  expect(await scheduled(session)).toEqual(["open-loop", "model", "peek", "model", "close-loop"]);
});

thorough(
  "a quick tool that takes longer than two seconds goes elsewhere, and the run goes on with one result",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [peek("slow")] }, { text: "Done." }],
      agent: { tools: ["peek"] },
    });
    await session.start("Go");
    await gates.of("slow").arrived;
    const again = session.handle.result();
    setTimeout(() => gates.of("slow").open(), 3000).unref();
    expect(await again).toMatchObject({ text: "Done." });
    expect(await scheduled(session)).toEqual(["open-loop", "model", "peek", "model", "close-loop"]);
    expect((await session.conversation()).filter((line) => line.startsWith("toolResult"))).toEqual([
      "toolResult: passed slow",
    ]);
  },
);

thorough("steering that arrives during a local tool waits for it, and is read once", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [peek("steered")] }, { text: "One." }, { text: "Two." }],
    agent: { tools: ["peek"] },
  });
  await session.start("Go");
  await gates.of("steered").arrived;
  await session.handle.signal(steerSignal, "Look here");
  gates.of("steered").open();
  await session.result();
  const conversation = await session.conversation();
  expect(conversation.filter((line) => line === "user: Look here")).toHaveLength(1);
  expect(conversation.at(-1)).toMatch(/^assistant/);
});

thorough("stop that arrives during a local tool ends the run", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [peek("stopped")] }, { text: "Never." }],
    agent: { tools: ["peek"] },
  });
  await session.start("Go");
  await gates.of("stopped").arrived;
  await session.handle.signal(stopSignal, "enough");
  expect(await session.result()).toMatchObject({ outcome: { type: "stopped" } });
  gates.of("stopped").open();
  expect((await session.eventTypes()).at(-1)).toBe("AgentEnd");
  expect(session.requests()).toHaveLength(1);
});
