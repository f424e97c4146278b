import { expect, test } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { SubAgentLimits } from "../../src/schema/limits.ts";

// Defaults that users build on: the literals of the requirements, not the constants of the code.

const definition = AgentDefinition.parse({ model: anthropic("claude-sonnet-4-5") });

test("the limits of a sub-agent are by default 10 turns, a million tokens and five minutes [SUB-03.1-2]", () => {
  const limits = {
    maxTurns: 10,
    maxTotalTokens: 1_000_000,
    maxDurationMs: 300_000,
    maxCostUsd: null,
    maxToolCalls: null,
  };
  expect(SubAgentLimits.parse({})).toStrictEqual(limits);
  const parent = AgentDefinition.parse({ ...definition, subAgents: [{ name: "scout", agent: definition }] });
  expect(parent.subAgents?.[0]?.limits).toStrictEqual(limits);
  // Its agent's own limits stay as they are, for when it runs by itself.
  expect(parent.subAgents?.[0]?.agent.limits.maxTurns).toBe(50);
});

test("an agent has by default no tools and no prompt, runs calls in parallel, does not think, and caches [API-02]", () => {
  expect(definition).toMatchObject({
    systemPrompt: "",
    tools: [],
    thinking: "off",
    toolStrategy: { type: "parallel" },
    steeringMode: "one-at-a-time",
    followUpMode: "one-at-a-time",
    cache: { enabled: true, strategy: "auto" },
    nudges: { enabled: true, max: 2 },
  });
  const delegating = AgentDefinition.parse({ ...definition, delegation: {} });
  expect(delegating.delegation).toStrictEqual({ maxDepth: 1, maxChildren: 100 });
});
