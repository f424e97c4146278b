import { expect, test } from "vitest";
import { playPlain } from "../../src/devkit/scenario/plain.ts";
import { Scenario } from "../../src/devkit/scenario/schema.ts";

const READER = "read_full_message";
const SMALL = { maxContextTokens: 1000, systemPromptTokens: 0 };
const reads = { toolCalls: [{ name: READER, arguments: { message: 0, from: 900 } }] };

async function play(prompt: string, agent: object = {}) {
  const scenario = Scenario.parse({
    name: "one",
    agent: { context: SMALL, ...agent },
    prompt,
    model: [reads, { text: "ok" }],
  });
  return (await playPlain(scenario)).played;
}

test("the tool that reads omitted text is offered while text is omitted, and runs whatever the policy", async () => {
  const permissions = { rules: [{ tool: "*", outcome: "deny" }], otherwise: "deny" };
  const { sent, outcome } = await play(`THE QUESTION ${"word ".repeat(900)}`, { permissions });
  expect(sent.map(({ tools }) => tools)).toEqual([[READER], [READER]]);
  expect(JSON.stringify(sent[1])).toContain("[Characters 900 to ");
  expect(outcome).toMatchObject({ type: "answered" });
});

test("it is not offered when no text is omitted, and a call of it finds nothing", async () => {
  const { sent } = await play("short");
  expect(sent.map(({ tools }) => tools)).toEqual([[], []]);
  expect(JSON.stringify(sent[1])).toContain(`Tool ${READER} not found`);
});
