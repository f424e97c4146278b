import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../src/testing/eventually.ts";
import { Gates } from "./support/gates.ts";
import { openStage, type Stage } from "./support/temporal.ts";

const gates = new Gates();
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ tools: [gates.tool()] });
});
afterAll(() => stage.close());

const hold = (gate: string) => ({ name: "hold", arguments: { gate } });

test("a tool without a limit of its own gets the definition's: that call ends with a result that says so, its sibling goes on [PHI-06]", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [hold("never"), hold("soon")] }, { text: "I see." }],
    agent: { tools: ["hold"], toolTimeoutMs: 700 },
  });
  await session.start("Go");
  await gates.of("soon").arrived;
  const running = await eventually(async () => {
    const seen = (await session.status()).running;
    return seen.length === 2 ? seen : undefined;
  });
  for (const { tool, sinceMs, untilMs } of running) {
    expect(tool).toBe("hold");
    expect(untilMs).toBe(sinceMs + 700);
  }
  gates.of("soon").open();
  expect(await session.result()).toMatchObject({ text: "I see." });
  const results = (await session.conversation()).filter((line) => line.startsWith("toolResult"));
  expect(results).toHaveLength(2);
  expect(results[0]).toContain("did not end within 700 ms");
  expect(results[1]).not.toContain("did not end");
  expect((await session.status()).running).toEqual([]);
});
