import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AgentFlags, BUILT_IN_TOOLS, buildDefinition } from "../../src/apps/cli/agent-flags.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "holdfast-flags-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

function made(flags: AgentFlags, env: NodeJS.ProcessEnv = {}) {
  const { agent, warnings } = buildDefinition({ model: "anthropic/claude-opus-5", ...flags }, { cwd, env });
  return { agent: AgentDefinition.parse(agent), warnings };
}

test("pin: the built-in tools are those that a worker has", () => {
  expect([...BUILT_IN_TOOLS].sort()).toEqual(
    createDefaultTools()
      .map(({ name }) => name)
      .sort(),
  );
});

test("without flags: the current folder, all six tools", () => {
  const { agent, warnings } = made({});
  expect(agent).toMatchObject({
    workspace: cwd,
    tools: [...BUILT_IN_TOOLS],
    model: { id: "claude-opus-5", provider: "anthropic", contextWindow: 1_000_000 },
  });
  expect(warnings).toEqual([]);
});

test("an unknown model causes a warning that states the assumptions [PROV-03.1]", () => {
  const { agent, warnings } = made({ model: "anthropic/claude-x" });
  expect(agent.model).toMatchObject({ contextWindow: 200_000, maxTokens: 8192 });
  expect(warnings).toEqual([
    expect.stringMatching(/claude-x is not in the model catalogue.* 200,000 .* 8,192\./),
  ]);
  expect(made({ model: "local/m@http://127.0.0.1:1/v1" }).warnings).toEqual([]);
});

test("a cost limit needs no prices if the catalogue has them", () => {
  expect(made({ maxCost: "2" }).agent.model.cost).toMatchObject({ input: 5, output: 25 });
});

test("a cost limit is rejected if the price of a model is unknown, and --prices 0,0 declares the model free [LIM-04.1]", () => {
  const model = "local/m@http://127.0.0.1:1/v1";
  expect(() => made({ model, maxCost: "2" })).toThrow(/--max-cost: .*local\/m is unknown.*--prices/);
  expect(made({ model, maxCost: "2", prices: "0,0" }).agent.model.cost).toMatchObject({
    input: 0,
    output: 0,
  });
});

test("flags become a definition", async () => {
  await writeFile(join(cwd, "system.md"), "be brief");
  const { agent } = made({
    workspace: "sub",
    tools: "bash, search",
    system: "@system.md",
    maxTurns: "7",
    maxCost: "1.5",
    prices: "3,15",
    thinking: "low",
    name: "builder",
    baseUrl: "http://127.0.0.1:9/",
  });
  expect(agent).toMatchObject({
    name: "builder",
    workspace: join(cwd, "sub"),
    tools: ["bash", "search"],
    systemPrompt: "be brief",
    thinking: "low",
    limits: { maxTurns: 7, maxCostUsd: 1.5, maxDurationMs: 600_000 },
    model: { baseUrl: "http://127.0.0.1:9", cost: { input: 3, output: 15 } },
  });
});

test("HOLDFAST_MODEL can specify the model; a flag has priority", () => {
  const flags = { cwd, env: { HOLDFAST_MODEL: "openai/from-env" } };
  expect(buildDefinition({}, flags).agent.model.id).toBe("from-env");
  expect(buildDefinition({ model: "openai/from-flag" }, flags).agent.model.id).toBe("from-flag");
});

test("an unknown tool stays in the definition, with a warning and the nearest name", () => {
  const { agent, warnings } = made({ tools: "bsh,deploy" });
  expect(agent.tools).toEqual(["bsh", "deploy"]);
  expect(warnings).toEqual([
    expect.stringContaining('Did you mean "bash"?'),
    expect.stringContaining("Built-in tools: "),
  ]);
});

test.each(["prun", "revert_to_state", "finish_work", "delegate", "file_read"])(
  "%s, which every worker has, needs no warning",
  (name) => {
    const { agent, warnings } = made({ tools: `bash,${name}` });
    expect([agent.tools, warnings]).toEqual([["bash", name], []]);
  },
);

test.each<[AgentFlags, RegExp]>([
  [{ model: "antropic/m" }, /Did you mean "anthropic"/],
  [{ maxTurns: "1.5" }, /--max-turns/],
  [{ model: "anthropic/claude-x", maxCost: "2" }, /--prices/],
  [{ maxCost: "-2", prices: "1,1" }, /--max-cost/],
  [{ prices: "3" }, /--prices/],
  [{ baseUrl: "nowhere" }, /--base-url/],
  [{ system: "@no-such-file" }, /no-such-file/],
])("%j is rejected", (flags, said) => {
  expect(() => made(flags)).toThrow(
    expect.objectContaining({ name: "UsageError", message: expect.stringMatching(said) }),
  );
});
