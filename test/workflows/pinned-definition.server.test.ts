import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
});
afterAll(() => stage.close());

test("a loop keeps the settings that it began with; the next has its own, else the agent's, and none of the session's [LOOP-26.1-2]", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "hold", arguments: { gate: "pinned" } }] },
      { text: "One." },
      { text: "Two." },
      { text: "Three." },
    ],
    agent: { tools: ["hold"], temperature: 0.5, maxTokens: 111 },
  });
  const asked = (nth: number) => {
    const { model, temperature, max_tokens, system } = session.listRequests()[nth]?.body ?? {};
    return { model, temperature, max_tokens, system: JSON.stringify(system) };
  };
  const { temperature: _t, maxTokens: _m, ...plain } = session.definition;
  const other: AgentDefinitionInput = {
    ...plain,
    systemPrompt: "Another prompt.",
    model: { ...session.definition.model, id: "other-model" },
  };

  await session.start("First");
  await gates.get("pinned").arrived;
  // The same agent is given other settings while its loop runs.
  session.definition.temperature = 1;
  session.definition.systemPrompt = "Changed.";
  await stage.transcript.saveDefinition(AgentDefinition.parse(other));
  gates.get("pinned").open();
  expect(await session.readResult()).toMatchObject({ text: "One." });
  expect(asked(0)).toMatchObject({ model: "test-model", temperature: 0.5, max_tokens: 111 });
  expect(asked(0).system).toContain("You are a test.");
  expect(asked(1)).toEqual(asked(0));

  expect(await session.run("Second", { definition: other })).toMatchObject({ text: "Two." });
  expect(asked(2)).toMatchObject({ model: "other-model", temperature: undefined });
  expect(asked(2).max_tokens).not.toBe(111);
  expect(asked(2).system).toContain("Another prompt.");

  const [first, second] = await stage.transcript.readLoops(session.id);
  const definitionHash = first?.definitionHash ?? "";
  expect(await session.run("Third", { definitionHash })).toMatchObject({ text: "Three." });
  expect(asked(3)).toEqual(asked(0));
  const hashes = (await stage.transcript.readLoops(session.id)).map((loop) => loop.definitionHash);
  expect(hashes).toEqual([definitionHash, second?.definitionHash, definitionHash]);
  expect(new Set(hashes).size).toBe(2);
});
