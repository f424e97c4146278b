import { describe, expect, test } from "vitest";
import { readAgents } from "../../src/config/agent-file/read-agents.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { listProblems, load, loadProblem, PROVIDER } from "./agent-files.ts";

describe("errors", () => {
  test("all errors of a file are reported at once, each with its location, the value found, the expected value and the nearest name [CFG-03.2, CFG-27.2-3, CFG-27.5]", () => {
    const text = `[provider]
model = "claude-x"
api = "anthropc"
api_key = "\${KEY}"
max_tokens = "many"
[agent.profile]
thinking_level = "extreem"
temperature = 3
[tools]
tool_strategy = "paralel"
[[agent.instances]]
agent_profile = "{{coder}}"
system_prompt = "\${NOT_SET}"
`;
    expect(
      listProblems(text).map(({ line, column, field, found, nearest, kind }) => [
        line,
        column,
        field,
        found,
        nearest,
        kind,
      ]),
    ).toEqual([
      [3, 7, "provider.api", '"anthropc"', "anthropic", "invalid-field"],
      [5, 14, "provider.max_tokens", '"many"', undefined, "invalid-field"],
      [7, 18, "agent.profile.thinking_level", '"extreem"', undefined, "invalid-field"],
      [8, 15, "agent.profile.temperature", "3", undefined, "invalid-field"],
      [10, 17, "tools.tool_strategy", '"paralel"', "parallel", "invalid-field"],
      [12, 17, "agent.instances[0].agent_profile", '"{{coder}}"', undefined, "invalid-field"],
      [13, 18, "agent.instances[0].system_prompt", "${NOT_SET}", undefined, "missing-env-var"],
    ]);
    expect(load(text).agents).toEqual([]);
  });

  test.each([
    ["[agent]\nsystem_prompt = 3", "text"],
    ["[execution]\nmax_turns = 0", 'a whole number from 1 or "none"'],
    ["[agent.profile]\ntemperature = 3", "a number from 0 to 2"],
    ['[tools]\nenabled = "bash"', "a list; each member a text"],
    ['[session]\nscope = "persist"', '"ephemeral" or "persistent"'],
    ["[callbacks]\nbefore_turn = 3", "a hook, or a list of hooks"],
    ['[agent.profile]\nprofile_id = "7"', "a text"],
  ])("%s: the expected value is %s [CFG-05.5, CFG-27.3]", (text, expected) => {
    expect(loadProblem(text).expected).toContain(expected);
  });

  test.each([
    ['{ name = "x", on_failure = "contine" }', "callbacks.before_turn.on_failure", '"contine"', "continue"],
    ['[{ command = "x y", on_failure = "stpo" }]', "callbacks.before_turn[0].on_failure", '"stpo"', "stop"],
    ['{ name = "x", timeout_ms = -4 }', "callbacks.before_turn.timeout_ms", "-4", undefined],
    ['[{ name = "x", onFailure = "stop" }]', "callbacks.before_turn[0].onFailure", undefined, "on_failure"],
    ['["a", { hook = 3 }]', "callbacks.before_turn[1].hook", "3", undefined],
    ["{ }", "callbacks.before_turn", "{}", undefined],
  ])(
    "of a hook %s: the invalid value is quoted, not the whole hook [CFG-27.3]",
    (text, field, found, nearest) => {
      expect(listProblems(`${PROVIDER}[callbacks]\nbefore_turn = ${text}`)).toMatchObject([{ field }]);
      const problem = loadProblem(`${PROVIDER}[callbacks]\nbefore_turn = ${text}`);
      expect([problem.found, problem.nearest]).toEqual([found, nearest]);
    },
  );

  test("the nearest name of an output's kind [CFG-27.3]", () => {
    const kind = (said: string) => loadProblem(`${PROVIDER}[output]\ntype = "${said}"`).nearest;
    expect([kind("jsn"), kind("json_schema"), kind("txt")]).toEqual(["json", "json-schema", "text"]);
  });

  test.each([
    ["toml", "[provider\n", 2],
    ["toml", '[provider]\nmodel = "a"\nmodel = "b"\n', 3],
    ["yaml", "provider:\n  model: [a\n", 3],
    ["yaml", "provider:\n  model: a\n  model: b\n", 3],
    ["json", '{"provider": {"model": "a",}}', 1],
    ["json", '{\n"provider": {"model": "a", "model": "b"}}', 2],
    ["json", "[1]", 1],
  ] as const)("a text that is not %s: %j [CFG-27.1]", (format, text, line) => {
    const [problem] = listProblems(text, { format });
    expect(problem).toMatchObject({ kind: "parse", severity: "error", line });
  });

  test("a missing file [CFG-27.4]", () => {
    expect(readAgents("/nowhere/agent.toml").problems).toMatchObject([
      { kind: "io", file: "/nowhere/agent.toml" },
    ]);
    expect(loadProblem('[agent]\nsystem_prompt = "file:no.md"')).toMatchObject({
      kind: "io",
      line: 2,
      message: expect.stringContaining("/home/me/project/no.md"),
    });
  });

  test("rules of the definition itself are reported at the field [CFG-27.3]", () => {
    expect(loadProblem("[compaction]\nmax_context_tokens = 100")).toMatchObject({
      line: 2,
      field: "compaction.max_context_tokens",
    });
    expect(loadProblem('[permissions]\nrules = [{ path = "../x", outcome = "deny" }]').field).toBe(
      "permissions.rules[0].path",
    );
    expect(loadProblem('[output]\nschema = { type = "array" }').field).toBe("output.schema");
  });

  test("locations refer to the file as written, with variables of any length before them [CFG-27.3]", () => {
    const text = `${PROVIDER}name = "\${A}\${LONG_NAME_OF_A_VARIABLE}"\nreasoning = 1\n`;
    expect(listProblems(text, { env: { A: "x".repeat(99), LONG_NAME_OF_A_VARIABLE: "" } })).toMatchObject([
      { line: 5, column: 13, endColumn: 14, excerpt: "reasoning = 1" },
    ]);
    const inline =
      '{"agent": {"system_prompt": "${A}", "workspce": 1}, "provider": {"model": "claude", "api_key": "${K}"}}';
    expect(listProblems(inline, { format: "json", env: { A: "" } })).toMatchObject([
      { line: 1, column: 37, endColumn: 47, nearest: "workspace" },
    ]);
  });

  test("a literal key in the file is rejected and never displayed [CFG-15.3]", () => {
    const key = "sk-ant-api03-abcdefghijkl";
    for (const text of [
      `provider = { model = "claude", api_key = "${key}", modle = 1 }`,
      `[provider]\nmodel = "claude"\napi_key = "${key}`,
      `[provider]\nmodel = "claude"\n\n[provider.headers]\nAuthorization = 3 # ${key}`,
    ]) {
      const said = JSON.stringify(listProblems(text));
      expect(said).toContain('"error"');
      expect(said).not.toContain(key);
    }
  });
});

describe("invalid references", () => {
  const file = (reference: string, more = "") =>
    `[agent.profile]\n[[agent.profile.instances]]\nid = "{{coder}}"\n[[agent.instances]]\nagent_profile = "${reference}"\n[[provider.instances]]\nid = "{{both}}"\n[[compaction.instances]]\nid = "both"\n${more}`;

  test.each([
    ["{{codr}}", 'there is no agent_profile "codr" in this file; did you mean "coder"?'],
    ["{{agent_profle.coder}}", 'did you mean "{{agent_profile.coder}}"?'],
    ["{{provider.both}}", "is a provider, but a agent_profile is expected here"],
    ["both", '"both" is ambiguous: write {{provider.both}} or {{compaction.both}}'],
  ])("%s [CFG-14.2-3]", (reference, message) => {
    expect(loadProblem(file(reference))).toMatchObject({
      field: "agent.instances[0].agent_profile",
      line: 5,
      message: expect.stringContaining(message),
    });
  });

  test("two of one name, and a name declared in the wrong section [CFG-13.3, CFG-14.2]", () => {
    expect(loadProblem(file("coder", '[[compaction.instances]]\nid = "{{%both%}}"')).message).toContain(
      'another compaction above has the name "both"',
    );
    expect(loadProblem(file("coder", '[[compaction.instances]]\nid = "{{provider.x}}"')).message).toContain(
      "declares a compaction",
    );
  });

  test.each([
    [
      '["sparee"]',
      3,
      "agent.fallbacks[0]",
      'there is no provider "sparee" in this file; did you mean "spare"?',
    ],
    [
      '["spare", "{{compaction.small}}"]',
      3,
      "agent.fallbacks[1]",
      "is a compaction, but a provider is expected",
    ],
    [
      '["spare", 3]',
      3,
      "agent.fallbacks[1]",
      "expected the name of a provider, {{provider.NAME}}, or a table",
    ],
    ['"spare"', 3, "agent.fallbacks", "expected a list of at most 8"],
    [JSON.stringify(Array(9).fill("spare")), 3, "agent.fallbacks", "expected a list of at most 8"],
    ['[{ model = "m", api = "azure" }]', 3, "agent.fallbacks[0]", "has no default address: add base_url"],
    ['[{ model = "m", api = "custom_X", api_key = "${K}" }]', 3, "agent.fallbacks[0].api", "custom_NAME"],
    ['["spare", "broken"]', 12, "provider.instances[1].context_window", "a whole number from 1"],
  ])("fallbacks = %s [CFG-14.3, CFG-27.3]", (fallbacks, line, field, words) => {
    const text = `
[agent]
fallbacks = ${fallbacks}
[[compaction.instances]]
id = "small"
[[provider.instances]]
id = "spare"
api_key = "\${K}"
model = "claude"
[[provider.instances]]
id = "broken"
${fallbacks.includes("broken") ? "context_window = 0" : ""}
model = "claude"
api_key = "\${K}"
${PROVIDER}`;
    const problems = listProblems(text);
    expect(problems).toMatchObject([{ severity: "error", line, field }]);
    expect(problems[0]?.message).toContain(words);
  });

  test("a warning about a model is also given for a fallback [CFG-28.2]", () => {
    const fallback = (table: string) => `${PROVIDER}cost = { input_per_million = 1 }
[execution]
max_cost = 5
[agent]
fallbacks = [${table}]`;
    expect(listProblems(fallback('{ modle = "claude", api_key = "${K}" }'))).toMatchObject([
      { severity: "error", field: "execution.max_cost" },
      {
        kind: "mistake",
        field: "agent.fallbacks[0]",
        message: expect.stringContaining("no model is specified"),
      },
      { kind: "unknown-key", field: "agent.fallbacks[0].modle", nearest: "model" },
    ]);
    expect(listProblems(fallback('{ model = "claude-y", api_key = "${K}" }')).map(formatProblem)).toEqual([
      expect.stringContaining(
        "agent.toml:6:12: error: execution.max_cost: a cost limit cannot be enforced: the price of anthropic/claude-y is unknown.",
      ),
    ]);
    const rates = "cost = { input_per_million = 1 }";
    expect(listProblems(fallback(`{ model = "claude-y", api_key = "\${K}", ${rates} }`))).toEqual([]);
    const local = 'model = "m", api = "openai", url = "http://127.0.0.1:1"';
    expect(listProblems(fallback(`{ ${local} }`))).toMatchObject([{ severity: "error" }]);
    expect(listProblems(fallback(`{ ${local}, cost = { input_per_million = 0 } }`))).toEqual([]);
  });

  test("a literal key in a fallback is rejected and never displayed [CFG-15.3]", () => {
    const key = "sk-ant-api03-abcdefghijkl";
    const said = listProblems(`${PROVIDER}[agent]\nfallbacks = [{ model = "claude", api_key = "${key}" }]`);
    expect(said).toMatchObject([{ severity: "error", field: "agent.fallbacks[0].api_key" }]);
    expect(JSON.stringify(said)).not.toContain(key);
  });

  test("sub-agents that call each other in a circle [CFG-24.3]", () => {
    const text =
      '[[sub_agents.instances]]\nname = "a"\nsub_agents = ["b"]\n[[sub_agents.instances]]\nname = "b"\nsub_agents = ["a"]\n';
    expect(listProblems(text + PROVIDER).map(({ message }) => message)).toContainEqual(
      expect.stringContaining("a → b → a"),
    );
  });

  test("two agents of one name [CFG-07.4]", () => {
    expect(loadProblem('[[agent.instances]]\nname = "a"\n[[agent.instances]]\nname = "a"').message).toContain(
      'another agent above has the name "a"',
    );
  });
});

describe("a cost limit with an unknown price is an error that explains the remedy [LIM-04.1]", () => {
  test.each([
    ["of an agent", `${PROVIDER}[execution]\nmax_cost = 5\n`, "execution.max_cost"],
    [
      "of a sub-agent",
      `${PROVIDER}[[sub_agents.instances]]\nname = "a"\nmax_cost = 5\n`,
      "sub_agents.instances[0].max_cost",
    ],
    [
      "of a mode",
      `${PROVIDER}[mode]\ntype = "autonomous"\nmax_cost = 5\n[agent.profile]\nname = "x"\n`,
      "mode.max_cost",
    ],
    [
      "of an agent, with prices that are said to be unknown",
      `${PROVIDER}cost = "unknown"\n[execution]\nmax_cost = 5\n`,
      "execution.max_cost",
    ],
  ])("%s", (_, text, field) => {
    const { agents, problems } = load(text);
    expect(agents).toEqual([]);
    expect(problems).toMatchObject([
      {
        severity: "error",
        field,
        message: expect.stringMatching(/claude-x is unknown\..*\[provider\.cost\].*remove/),
      },
    ]);
  });

  test("prices of 0 are known: the model is free", () => {
    const { agents, problems } = load(
      `${PROVIDER}cost = { input_per_million = 0, output_per_million = 0 }\n[execution]\nmax_cost = 5\n`,
    );
    expect(problems).toEqual([]);
    expect(agents[0]?.definition.model.cost).toMatchObject({ input: 0, output: 0 });
  });
});

describe("warnings", () => {
  test.each([
    [
      "[agent.profile]\ntemprature = 1",
      "unknown-key",
      "agent.profile.temprature",
      'did you mean "temperature"?',
    ],
    ['[provider]\nmodel = "gpt-4o"\napi_key = "${K}"', "mistake", "provider.model", 'add api = "openai"'],
    ['[provider]\nmodel = "claude"', "mistake", "provider", 'add api_key = "${ANTHROPIC_API_KEY}"'],
    ['[provider]\napi_key = "${K}"', "mistake", "provider", "no model is specified"],
    ['[tools]\nenabled = ["file_read", "serch"]', "mistake", "tools.enabled[1]", 'did you mean "search"?'],
    [
      "[compaction]\nkeep_first_turns = 5",
      "mistake",
      "compaction.keep_first_turns",
      "add max_context_tokens",
    ],
    ["[tools]\nbatch_size = 5", "mistake", "tools.batch_size", "batched"],
    ['[skills]\nfolder = ["~/skills"]', "unknown-key", "skills.folder", 'did you mean "folders"?'],
    [
      '[agent]\nsystem_prompt = "{{p}}"\n[[system_prompt.instances]]\nid = "p"\ntype = "agent"\nidentiy = "x"',
      "mistake",
      "system_prompt.instances[0].identiy",
      'did you mean "identity"?',
    ],
  ])("%s [CFG-28.1-2, CFG-20.2]", (text, kind, field, words) => {
    const problem = loadProblem(text, { knownTools: ["read_file", "search"] });
    expect(problem).toMatchObject({ kind, field, severity: "warning" });
    expect(problem.message).toContain(words);
  });

  test.each([
    ['[permissions]\nrules = [{ comand = "rm", outcome = "allow" }]', "permissions.rules[0].comand"],
    ["[execution]\nmax_cst = 3", "execution.max_cst"],
    ['[callbacks]\nbefor_turn = "x"', "callbacks.befor_turn"],
    ["[approvals]\ntimout_ms = 5", "approvals.timout_ms"],
    ["[delegation]\nmax_dpth = 1", "delegation.max_dpth"],
    ['[[mcp]]\nname = "a"\ncommand = "b"\nalow_tools = ["c"]', "mcp[0].alow_tools"],
    ['[[openapi.instances]]\nname = "a"\nspec = "b.json"\nincldue = ["c"]', "openapi.instances[0].incldue"],
  ])("an unknown key is an error where ignoring it would weaken a restriction: %s", (text, field) => {
    expect(loadProblem(text)).toMatchObject({ kind: "unknown-key", severity: "error", field });
  });

  test("a compaction strategy that is nearly a built-in one is an error, any other a warning, or an error if all are known", () => {
    const withStrategy = (name: string) =>
      `[context]\nmax_context_tokens = 1000\nsystem_prompt_tokens = 0\n[compaction]\nstrategy = "${name}"`;
    expect(loadProblem(withStrategy("tierd"))).toMatchObject({
      kind: "invalid-field",
      severity: "error",
      field: "compaction.strategy",
      message: 'there is no compaction strategy "tierd"; did you mean "tiered"?',
    });
    expect(loadProblem(withStrategy("headline"))).toMatchObject({ kind: "mistake", severity: "warning" });
    const strict = { knownStrategies: ["block", "summary", "tiered"] };
    expect(loadProblem(withStrategy("headline"), strict)).toMatchObject({
      severity: "error",
      message: 'there is no compaction strategy "headline"; known are block, summary, tiered',
    });
    const known = load(`${PROVIDER}${withStrategy("tiered")}`, strict);
    expect(known.problems).toEqual([]);
    expect(known.agents[0]?.definition.context?.compaction.strategy).toBe("tiered");
  });

  test("a warning does not change the agent [CFG-28.3]", () => {
    const { agents, problems } = load(`${PROVIDER}[tools]\nbatch_size = 5\n`);
    expect(agents).toHaveLength(1);
    expect(problems).toMatchObject([{ severity: "warning", field: "tools.batch_size" }]);
  });
});

test("every value records its source: file, profile, included file, environment or default [CFG-29.3]", () => {
  const text = `${PROVIDER}max_tokens = \${MAX}
[[agent.profile.instances]]
id = "coder"
system_prompt = "file:p.md"
[[agent.instances]]
name = "a"
agent_profile = "coder"
[agent.instances.callbacks]
before_turn = { command = "./x", timeout_ms = 3 }
`;
  const { agents } = load(text, { env: { MAX: "5" }, files: { "/home/me/project/p.md": "p" } });
  const by = Object.fromEntries(agents[0]!.resolvedValues.map(({ path, ...rest }) => [path, rest]));
  expect(by["model.id"]).toEqual({ value: "claude-x", from: "agent.toml:2:9", field: "provider.model" });
  expect(by["model.maxTokens"]).toMatchObject({ value: 5, environment: ["MAX"] });
  expect(by["systemPrompt"]).toMatchObject({
    from: "agent.toml:7:17",
    suppliedBy: "agent_profile coder",
    read: "/home/me/project/p.md",
  });
  expect(by["hooks.before-turn[0].timeoutMs"]).toMatchObject({ from: "agent.toml:12:47" });
  expect(by["workspace"]).toMatchObject({ from: "default", note: "the current folder" });
  expect(by["limits.maxTurns"]).toEqual({ value: 50, from: "default" });
});
