import { expect, test } from "vitest";
import { formatSummaryLines, summariseDefinition } from "../../src/client/read/definition-summary.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";

const model = {
  provider: "p",
  api: "openai_completions",
  contextWindow: 1000,
  baseUrl: "https://models.example/v1",
  id: "m",
};

test("a summary lists everything that an agent can access: addresses, programs, environment variables, tools, policy", () => {
  const definition = AgentDefinition.parse({
    name: "stranger",
    model: { ...model, apiKey: "\u0024{MODEL_KEY}" },
    workspace: "/srv/app",
    tools: ["bash"],
    hooks: { "before-turn": [{ command: ["./hook.sh", "--fast"] }] },
    mcp: [
      { name: "near", transport: { type: "stdio", command: "server", args: ["-v"] } },
      { name: "far", transport: { type: "http", url: "https://mcp.example/x" } },
    ],
    permissions: { rules: [{ command: "git status", outcome: "allow" }], otherwise: "allow" },
    subAgents: [
      {
        name: "scout",
        agent: { model: { ...model, baseUrl: "https://other.example/v1", apiKey: "\u0024{OTHER}" } },
      },
    ],
  });
  expect(formatSummaryLines(summariseDefinition(definition))).toEqual([
    "agent stranger, model p/m",
    "workspace: /srv/app",
    "tools: bash, MCP server near, MCP server far, agent scout",
    "starts programs: ./hook.sh --fast, server -v",
    "addresses: https://models.example/v1, https://other.example/v1, https://mcp.example/x",
    "reads from the worker's environment: MODEL_KEY, OTHER",
    "permissions: 1 rule, otherwise allow",
  ]);
});

test("a summary stays short and contains no injected lines, whatever a definition contains", () => {
  const definition = AgentDefinition.parse({
    name: "a\nworkspace: /safe",
    model,
    tools: Array.from({ length: 500 }, (_, at) => `tool-${at}-${"x".repeat(1000)}`),
  });
  const lines = formatSummaryLines(summariseDefinition(definition));
  expect(lines.join("\n").split("\n")).toHaveLength(lines.length);
  expect(lines.join("").length).toBeLessThan(6000);
  expect(lines.join("")).toContain("and 480 more");
});
