import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({
    tools: [gates.createTool(), { ...gates.createTool({ name: "hurry" }), timeoutMs: 300 }],
  });
});
afterAll(() => stage.close());

const hold = (gate: string) => ({ name: "hold", arguments: { gate } });

test("a tool without a limit of its own gets the definition's: that call ends with a timeout result, its sibling continues [PHI-06.2-3]", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [hold("never"), hold("soon")] }, { text: "I see." }],
    agent: { tools: ["hold"], toolTimeoutMs: 700 },
  });
  await session.start("Go");
  await gates.get("soon").arrived;
  const running = await eventually(async () => {
    const seen = (await session.readStatus()).running;
    return seen.length === 2 ? seen : undefined;
  });
  for (const { tool, sinceMs, untilMs } of running) {
    expect(tool).toBe("hold");
    expect(untilMs).toBe(sinceMs + 700);
  }
  gates.get("soon").open();
  expect(await session.readResult()).toMatchObject({ text: "I see." });
  const results = (await session.readConversation()).filter((line) => line.startsWith("toolResult"));
  expect(results).toHaveLength(2);
  expect(results[0]).toContain("did not finish within 700 ms");
  expect(results[1]).not.toContain("did not end");
  expect((await session.readStatus()).running).toEqual([]);
});

test("a tool's own limit precedes the definition's [PHI-06.1]", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [{ name: "hurry", arguments: { gate: "late" } }] }, { text: "I see." }],
    agent: { tools: ["hurry"], toolTimeoutMs: 60_000 },
  });
  await session.run("Go");
  expect((await session.readConversation())[2]).toContain("did not finish within 300 ms");
});
