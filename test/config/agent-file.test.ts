import { describe, expect, test } from "vitest";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { listProblems, load, loadAgent, loadDefinitions, PROVIDER } from "./agent-files.ts";

const JSON_PROVIDER = { provider: { model: "claude-x", api_key: "${KEY}" } };

describe("formats", () => {
  test("one file in three formats is one definition; a file with an unknown extension is parsed as each in turn [CFG-01.1-2]", () => {
    const toml = '[agent.profile]\ntemperature = 0.5\n[tools]\nenabled = ["bash"]\n';
    const json = JSON.stringify({
      ...JSON_PROVIDER,
      agent: { profile: { temperature: 0.5 } },
      tools: { enabled: ["bash"] },
    });
    const yaml =
      'provider: {model: claude-x, api_key: "${KEY}"}\nagent:\n  profile:\n    temperature: 0.5\ntools:\n  enabled:\n    - bash\n';
    const expected = loadAgent(toml);
    expect(expected).toMatchObject({ temperature: 0.5, tools: ["bash"] });
    expect(loadDefinitions(json, { format: "json" })).toEqual({ agent: expected });
    expect(loadDefinitions(yaml, { format: "yaml" })).toEqual({ agent: expected });
    for (const text of [PROVIDER + toml, json, yaml]) {
      expect(loadDefinitions(text, { name: "agent.conf" })).toEqual({ agent: expected });
    }
  });

  test("YAML's anchors, aliases and merges are resolved [CFG-01.1]", () => {
    const { name, model } = Object.values(
      loadDefinitions(
        "base: &base {api_key: '${KEY}', reasoning: true}\nprovider:\n  <<: *base\n  model: claude-x\nagent: {profile: {name: &n nina}}\n",
        { format: "yaml" },
      ),
    )[0]!;
    expect({ name, model }).toMatchObject({ name: "nina", model: { apiKey: "${KEY}", reasoning: true } });
  });

  test("[provider] alone is enough; everything else has defaults, and compaction is off [CFG-02, CFG-15.1, CFG-21.1, CFG-26]", () => {
    const { model, ...rest } = AgentDefinition.parse({
      model: {
        id: "claude-x",
        api: "anthropic_messages",
        provider: "anthropic",
        baseUrl: "https://api.anthropic.com",
        apiKey: "${KEY}",
        contextWindow: 200_000,
        maxTokens: 8192,
      },
      context: null,
      workspace: "/home/me/project",
    });
    expect(loadAgent("")).toEqual({ ...rest, model });
  });

  test("unset, limits, retries, tools and compaction have these numbers [CFG-20.3, CFG-21.3, CFG-23.4]", () => {
    expect(loadAgent("[compaction]\nmax_context_tokens = 100000\n")).toMatchObject({
      tools: [],
      toolStrategy: { type: "parallel" },
      limits: { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000, maxCostUsd: null },
      retry: { maxRetries: 3, initialDelayMs: 1000, backoffMultiplier: 2, maxDelayMs: 30_000 },
      cache: { enabled: true, strategy: "auto" },
      context: {
        maxContextTokens: 100_000,
        systemPromptTokens: 4000,
        compaction: {
          compactAtPct: 0.9,
          budgetThresholdPct: 0.05,
          keepFirstTurns: 2,
          keepRecentTurns: 10,
          maxSummaryTokens: 2000,
          toolOutputMaxLines: 50,
        },
      },
    });
  });

  test("without [provider] there is no model, and an error says so [CFG-30, CFG-02]", () => {
    expect(listProblems('[agent]\nsystem_prompt = "x"')).toMatchObject([
      { kind: "missing-model", severity: "error", field: "provider", expected: "[provider]" },
    ]);
  });
});

describe("variables", () => {
  const env = { MODE: 'test "mode"', TURNS: "12", ON: "true", URL: "http://h/v1" };

  test.each(["toml", "yaml", "json"] as const)(
    "${NAME} is replaced by its value in %s [CFG-03.1]",
    (format) => {
      const text = {
        toml: `${PROVIDER}base_url = "\${URL}"\nreasoning = \${ON}\n[agent]\nsystem_prompt = "In \${MODE}."\n[execution]\nmax_turns = \${TURNS}\n`,
        yaml: 'provider: {model: claude-x, api_key: "${KEY}", base_url: ${URL}, reasoning: ${ON}}\nagent: {system_prompt: "In ${MODE}."}\nexecution:\n  max_turns: ${TURNS}\n',
        json: '{"provider": {"model": "claude-x", "api_key": "${KEY}", "base_url": "${URL}", "reasoning": ${ON}}, "agent": {"system_prompt": "In ${MODE}."}, "execution": {"max_turns": ${TURNS}}}',
      }[format];
      expect(Object.values(loadDefinitions(text, { env, format }))[0]).toMatchObject({
        systemPrompt: 'In test "mode".',
        limits: { maxTurns: 12 },
        model: { reasoning: true, baseUrl: "http://h/v1", apiKey: "${KEY}" },
      });
    },
  );

  test("keys and headers stay references, whatever the environment holds [CFG-03.4, CFG-15.3]", () => {
    const text = `${PROVIDER}headers = { Authorization = "Bearer \${TOKEN}", Plain = "p" }\n`;
    const { model } = loadAgent(text, { env: { KEY: "sk-1", TOKEN: "t" } });
    expect(model).toMatchObject({
      apiKey: "${KEY}",
      headers: { Authorization: "Bearer ${TOKEN}", Plain: "p" },
    });
  });

  test("an invalid variable name is left as it is, and $${NAME} is the text ${NAME} [CFG-03.3]", () => {
    const text = '[agent]\nsystem_prompt = "${} ${UNCLOSED ${a-b} $${MODE} $$${MODE}"';
    expect(loadAgent(text, { env }).systemPrompt).toBe("${} ${UNCLOSED ${a-b} ${MODE} $${MODE}");
  });

  test("a comment may mention a variable that is not set [CFG-03.1]", () => {
    expect(loadAgent("# ${NOT_SET}\n").name).toBe("agent");
  });

  test("the value of a variable cannot add keys or leave its quotes [CFG-03.1]", () => {
    const evil = { X: '"\nworkspace = "/etc' };
    expect(loadAgent('[agent]\nsystem_prompt = "a ${X}"', { env: evil })).toMatchObject({
      systemPrompt: `a ${evil.X}`,
      workspace: "/home/me/project",
    });
  });
});

const PROFILES = `
[agent.profile]
profile_id = "7b1b3a5c-0d5e-4c55-9d6e-0b1a2c3d4e5f"
name = "base"
description = "for all"
system_prompt = "base prompt"
thinking_level = "HIGH"
temperature = 0.2
max_tokens = 100
config_id = "c1"
[[agent.profile.instances]]
id = "{{%coder%}}"
system_prompt = "coder prompt"
temperature = 0.7
[[agent.profile.instances]]
id = "{{#p-1#}}"
max_tokens = 7
`;

describe("agents and profiles", () => {
  test("the fields of a profile [CFG-04, CFG-05.1]", () => {
    expect(loadAgent(PROFILES)).toMatchObject({
      name: "base",
      description: "for all",
      systemPrompt: "base prompt",
      thinking: "high",
      temperature: 0.2,
      maxTokens: 100,
      configId: "c1",
    });
  });

  test("an instance of a profile overrides the profile and falls back on it [CFG-06]", () => {
    const { a } = loadDefinitions(
      `${PROVIDER}${PROFILES}[[agent.instances]]\nname = "a"\nagent_profile = "{{agent_profile.coder}}"`,
    );
    expect(a).toMatchObject({
      name: "a",
      temperature: 0.7,
      maxTokens: 100,
      systemPrompt: "coder prompt",
      thinking: "high",
    });
  });

  test("a file may contain several agents, each with its own sections; without a name one is unnamed [CFG-07.1-3]", () => {
    const agents = loadDefinitions(`${PROVIDER}${PROFILES}
[execution]
max_turns = 9
max_cost = "none"
[[agent.instances]]
profile = { temperature = 1.5 }
[[agent.instances]]
name = "b"
provider = "{{fast}}"
system_prompt = "own"
tools = ["search"]
[agent.instances.execution]
max_turns = 3
max_total_tokens = 77
[[provider.instances]]
id = "{{%fast%}}"
model = "claude-fast"
`);
    expect(Object.keys(agents)).toEqual(["unnamed", "b"]);
    expect(agents["unnamed"]).toMatchObject({
      name: "unnamed",
      temperature: 1.5,
      limits: { maxTurns: 9 },
      tools: [],
    });
    expect(agents["b"]).toMatchObject({
      systemPrompt: "own",
      temperature: 0.2,
      tools: ["search"],
      model: { id: "claude-fast" },
      limits: { maxTurns: 3, maxTotalTokens: 77, maxCostUsd: null },
    });
  });

  test.each([
    ['[agent]\nsystem_prompt = "agent"\n', "agent"],
    ['[agent]\nsystem_prompt = ""\n', "coder prompt"],
    ["", "coder prompt"],
  ])(
    "the agent's prompt comes before the profile's instance, and the instance before the base %#  [CFG-08.1-2]",
    (agent, expected) => {
      const { a } = loadDefinitions(
        `${agent}${PROFILES}[[agent.instances]]\nname = "a"\nagent_profile = "coder"\n${PROVIDER}`,
      );
      expect(a!.systemPrompt).toBe(expected);
    },
  );

  test("an instance's own prompt has priority; without any prompt it is empty [CFG-08.1, CFG-08.3]", () => {
    const own = '[agent]\nsystem_prompt = "x"\n[[agent.instances]]\nsystem_prompt = "own"\n';
    expect(loadAgent(own).systemPrompt).toBe("own");
    expect(loadAgent("").systemPrompt).toBe("");
  });

  test.each([
    [
      'default_workspace = "/d"\n[agent]\nworkspace = "/a"\n[agent.profile]\nworkspace = "/p"\n[[agent.instances]]\nworkspace = "i"\n',
      "/home/me/project/i",
    ],
    [
      'default_workspace = "/d"\n[agent]\nworkspace = "/a"\n[agent.profile]\nworkspace = "/p"\n[[agent.instances]]\n',
      "/a",
    ],
    ['default_workspace = "/d"\n[agent.profile]\nworkspace = "/p"\n[[agent.instances]]\n', "/p"],
    ['default_workspace = "/d"\n', "/d"],
    ["", "/home/me/project"],
    ['default_workspace = "none"\n', undefined],
  ])(
    "the workspace: instance, agent, profile, default, current folder %# [CFG-12, CFG-26, CFG-05.3, X-31.2]",
    (text, expected) => {
      expect(loadAgent(`${text}${PROVIDER}`).workspace).toBe(expected);
    },
  );
});

describe("prompts", () => {
  const files = {
    "/home/me/project/a.md": "from a",
    "/abs/b.md": "from b",
    "/home/me/project/p/c.md": "from c",
  };

  test("are inline, from a file of the workspace, from an absolute path, or literal text [CFG-09.1-2]", () => {
    const prompt = (text: string) => loadAgent(`${text}\n${PROVIDER}`, { files }).systemPrompt;
    expect(prompt('[agent]\nsystem_prompt = "file:a.md"')).toBe("from a");
    expect(prompt('[agent.profile]\nsystem_prompt = "file:/abs/b.md"')).toBe("from b");
    expect(prompt('[agent]\nworkspace = "p"\nsystem_prompt = "file:c.md"')).toBe("from c");
    expect(prompt('[agent]\nsystem_prompt = { text = "file:a.md" }')).toBe("file:a.md");
  });

  const composed = (type: string, order = "") => `
[agent]
system_prompt = "{{system_prompt.coding}}"
[[system_prompt.instances]]
id = "{{coding}}"
${type}
constraints = "Never."
identity = "You are an engineer."
instructions = "file:a.md"
[[system_prompt_strategy.instances]]
id = "{{mine}}"
blocks = [{ name = "instructions", order = 5 }, { name = "identity", max_length = 7 }, { name = "empty", order = 1 }${order}]
`;

  test("blocks appear in order, cut to their length, with an empty line between them [CFG-10.1-4, CFG-11.1]", () => {
    const { systemPrompt } = loadAgent(
      composed('type = "{{system_prompt_strategy.mine}}"', ', { name = "constraints", order = -1 }'),
      { files },
    );
    expect(systemPrompt).toBe("Never.\n\nYou are\n\nfrom a");
  });

  test.each([
    ["", "Never.\n\nYou are an engineer.\n\nfrom a"],
    ['type = "custom"', "Never.\n\nYou are an engineer.\n\nfrom a"],
    ['type = "agent"', "You are an engineer.\n\nfrom a\n\nNever."],
    ['type = "minimal"', "You are an engineer."],
  ])("a strategy that needs no declaration: %s [CFG-11.2, CFG-09.3]", (type, expected) => {
    expect(loadAgent(composed(type), { files }).systemPrompt).toBe(expected);
  });
});

describe("references", () => {
  const file = (reference: string) =>
    `${PROVIDER}${PROFILES}[[agent.instances]]\nname = "a"\nagent_profile = "${reference}"\n[[provider.instances]]\nid = "{{%base.x%}}"\nmodel = "claude"\n`;

  test.each([
    "{{agent_profile.coder}}",
    "{{coder}}",
    "{{%agent_profile.coder%}}",
    "{{%coder%}}",
    "{{ coder }}",
    "coder",
  ])("%s [CFG-13.1, CFG-14.1]", (reference) => {
    expect(loadDefinitions(file(reference))["a"]!.temperature).toBe(0.7);
  });

  test("{{#id#}} is a literal id, and no other form refers to it [CFG-13.2]", () => {
    expect(loadDefinitions(file("{{#p-1#}}"))["a"]!.maxTokens).toBe(7);
    expect(listProblems(file("{{p-1}}"))).toMatchObject([{ kind: "invalid-field", found: '"{{p-1}}"' }]);
  });
});

describe("providers", () => {
  test.each([
    ["anthropic", "anthropic_messages", "anthropic", "https://api.anthropic.com"],
    ["openai", "openai_completions", "openai", "https://api.openai.com/v1"],
    ["openai_responses", "openai_responses", "openai", "https://api.openai.com/v1"],
    ["google", "google_generative_ai", "google", "https://generativelanguage.googleapis.com"],
    ["gemini", "google_generative_ai", "google", "https://generativelanguage.googleapis.com"],
    ["bedrock", "bedrock_converse_stream", "bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com"],
  ])("api = %s [PROV-26.1, CFG-16.1]", (api, canonical, provider, baseUrl) => {
    const { model } = loadAgent(`[provider]\nmodel = "m"\napi_key = "\${K}"\napi = "${api}"\n`);
    expect(model).toMatchObject({ api: canonical, provider, baseUrl });
  });

  test.each(["azure", "vertex"])("%s requires a base_url [PROV-26.2, PROV-02.2, CFG-16.1-2]", (api) => {
    const text = `[provider]\nmodel = "m"\napi = "${api}"\n`;
    expect(listProblems(text)).toMatchObject([{ severity: "error", field: "provider" }]);
    expect(loadAgent(`${text}url = "https://h/"\n`).model.baseUrl).toBe("https://h");
  });

  test("every field, including rates and the deviations of a server [CFG-15.2, CFG-18]", () => {
    const { model } = loadAgent(`[provider]
model = "m"
name = "M"
api = "openai"
provider = "ollama"
base_url = "http://localhost:11434/v1/"
reasoning = true
context_window = 1000
max_tokens = 10
[provider.cost]
input_per_million = 3
cache_write_per_million = 0.5
[provider.compat]
supports_store = true
max_tokens_field = "max_completion_tokens"
`);
    expect(model).toMatchObject({
      id: "m",
      name: "M",
      provider: "ollama",
      baseUrl: "http://localhost:11434/v1",
      reasoning: true,
      contextWindow: 1000,
      maxTokens: 10,
      cost: { input: 3, output: 0, cacheRead: 0, cacheWrite: 0.5 },
      compat: {
        supportsStore: true,
        maxTokensField: "max_completion_tokens",
        supportsUsageInStreaming: true,
      },
    });
    expect(model.apiKey).toBeUndefined();
  });

  test("a named provider is complete by itself; its plain name is enough [CFG-17.1-2, X-32]", () => {
    const { model } = loadAgent(
      `${PROVIDER}reasoning = true\n[[provider.instances]]\nname = "fast"\nmodel = "claude-f"\napi_key = ""\n[[agent.instances]]\nprovider = "fast"\n`,
    );
    expect(model).toMatchObject({ id: "claude-f", name: "fast", reasoning: false });
    expect(model.apiKey).toBeUndefined();
  });
});

test("a custom protocol of a worker is custom_NAME and requires a base_url [PROV-26.2, CFG-16.2]", () => {
  const text = '[provider]\nmodel = "m"\napi = "custom_gateway"\n';
  expect(listProblems(text)).toMatchObject([
    {
      severity: "error",
      field: "provider",
      message: expect.stringContaining("has no default address: add base_url"),
    },
  ]);
  expect(loadAgent(`${text}base_url = "http://h/v1/"\n`).model).toMatchObject({
    api: "custom_gateway",
    provider: "gateway",
    baseUrl: "http://h/v1",
  });
});

describe("fallbacks", () => {
  const SPARE = `
[[provider.instances]]
id = "{{%spare%}}"
model = "gpt-x"
api = "openai"
api_key = "\${SPARE_KEY}"
`;
  const ids = ({ fallbacks }: AgentDefinition) => fallbacks?.map(({ id }) => id);

  test("are named providers or tables, each completed like the model; keys stay references [CFG-15.1-2, CFG-17.2]", () => {
    const text = `${PROVIDER}[agent]\nfallbacks = ["{{provider.spare}}", { model = "m", api = "openai", url = "http://h/v1/" }]\n${SPARE}`;
    const whole = { contextWindow: 200_000, maxTokens: 8192, reasoning: false, headers: {} };
    expect(loadAgent(text, { env: { SPARE_KEY: "sk-1" } }).fallbacks).toMatchObject([
      {
        ...whole,
        id: "gpt-x",
        provider: "openai",
        baseUrl: "https://api.openai.com/v1",
        apiKey: "${SPARE_KEY}",
      },
      { ...whole, id: "m", provider: "openai", baseUrl: "http://h/v1" },
    ]);
  });

  test("of an agent are its own, or those of [agent]; a sub-agent has only its own [CFG-07.1, SUB-12.1]", () => {
    const all = loadDefinitions(`${PROVIDER}
[agent]
fallbacks = ["spare"]
[[agent.instances]]
name = "as-all"
[[agent.instances]]
name = "own"
fallbacks = [{ model = "claude-own", api_key = "\${KEY}" }, "spare"]
[[agent.instances]]
name = "none"
fallbacks = []
[[sub_agents.instances]]
name = "plain"
[[sub_agents.instances]]
name = "careful"
fallbacks = ["spare"]
${SPARE}`);
    expect(Object.values(all).map(ids)).toEqual([["gpt-x"], ["claude-own", "gpt-x"], []]);
    expect(all["own"]?.subAgents?.map(({ agent }) => ids(agent))).toEqual([undefined, ["gpt-x"]]);
    expect(ids(loadAgent(PROVIDER))).toBeUndefined();
  });

  test("each value records its source [CFG-29.3]", () => {
    const { agents } = load(`${PROVIDER}[agent]\nfallbacks = ["spare"]\n${SPARE}`);
    const by = Object.fromEntries(agents[0]!.resolvedValues.map(({ path, ...rest }) => [path, rest]));
    expect(by["fallbacks[0].id"]).toMatchObject({
      value: "gpt-x",
      from: "agent.toml:9:9",
      field: "provider.instances[0].model",
      suppliedBy: "provider spare",
    });
    expect(by["fallbacks[0].baseUrl"]).toMatchObject({ from: "default", note: "of openai_completions" });
    expect(by["fallbacks[0].reasoning"]).toEqual({ value: false, from: "default" });
  });
});

describe("sections", () => {
  test("tools, and how their calls run [CFG-19, CFG-20.1]", () => {
    const text =
      '[session]\nscope = "persistent"\ntitles = "model"\n[tools]\nenabled = ["file_read"]\ntool_strategy = "batched"\nstrict = true\ntimeout_ms = 5\n';
    expect(loadAgent(text)).toMatchObject({
      sessionScope: "persistent",
      titles: "model",
      tools: ["file_read"],
      toolStrategy: { type: "batched", size: 3 },
      strict: true,
      toolTimeoutMs: 5,
    });
    expect(loadAgent(`${text}batch_size = 8\n`).toolStrategy).toEqual({ type: "batched", size: 8 });
    expect(loadAgent('[tools]\ntool_strategy = "sequential"').toolStrategy).toEqual({ type: "sequential" });
  });

  const COMPACTION = "max_context_tokens = 1000\nsystem_prompt_tokens = 5\n";
  const INNER =
    'compact_at_pct = 0.5\ncompact_budget_threshold_pct = 0.1\nfocus_message = "f"\nkeep_first_turns = 1\n';

  test("compaction, in one section or in two [CFG-21.2, X-31.1]", () => {
    const flat = loadAgent(`[compaction]\n${COMPACTION}${INNER}`).context;
    expect(flat).toMatchObject({
      maxContextTokens: 1000,
      systemPromptTokens: 5,
      compaction: {
        compactAtPct: 0.5,
        budgetThresholdPct: 0.1,
        focusMessage: "f",
        keepFirstTurns: 1,
        keepRecentTurns: 10,
        maxSummaryTokens: 2000,
      },
    });
    expect(loadAgent(`[context]\n${COMPACTION}[context.compaction]\n${INNER}`).context).toEqual(flat);
    expect(
      loadAgent(`[context]\nmax_context_tokens = 7\n[compaction]\n${COMPACTION}${INNER}`).context,
    ).toEqual(flat);
  });

  test("a profile selects a variation, whose other fields are the section's [CFG-22, CFG-05.4]", () => {
    const text = `[compaction]\n${COMPACTION}${INNER}[[compaction.instances]]\nid = "{{%coding%}}"\nkeep_first_turns = 6\n[agent.profile]\ncompaction = "{{compaction.coding}}"\n`;
    expect(loadAgent(text).context?.compaction).toMatchObject({ keepFirstTurns: 6, compactAtPct: 0.5 });
  });

  test('limits, retries, cache and queues; "none" switches a limit off [CFG-23.1-3]', () => {
    const text = `[execution]
max_turns = "none"
max_total_tokens = 5
max_duration_secs = 1.5
steering_mode = "all"
[execution.retry]
max_retries = 0
max_delay_ms = 9
[execution.cache]
strategy = { cache_system = true, cache_tools = false, cache_messages = true }
[delegation]
max_depth = 2
max_children = "none"
`;
    expect(loadAgent(text)).toMatchObject({
      limits: { maxTurns: null, maxTotalTokens: 5, maxDurationMs: 1500, maxCostUsd: null },
      retry: { maxRetries: 0, maxDelayMs: 9, backoffMultiplier: 2 },
      cache: { enabled: true, strategy: { cacheSystem: true, cacheTools: false, cacheMessages: true } },
      steeringMode: "all",
      delegation: { maxDepth: 2, maxChildren: null },
    });
  });

  test("callbacks are names or commands; [hooks] names functions [CFG-25, CB-08.5, CB-09.1-2]", () => {
    const text = `[callbacks]
before_loop = "plug::before_loop"
before_task = "./on start.sh"
after_task = ["python3 y.py", { name = "audit", timeout_ms = 9, on_failure = "continue" }]
before_tool_execution = { command = ["x", "y"] }
after_compaction_end = { hook = "with space" }
[hooks]
transform_context = "plug::t"
input_filters = ["a", "b"]
convert_to_llm = "c"
context_translation = "none"
`;
    expect(loadAgent(text)).toMatchObject({
      hooks: {
        "before-loop": ["plug::before_loop"],
        "before-task": [{ command: "./on start.sh" }],
        "after-task": [{ command: "python3 y.py" }, { name: "audit", timeoutMs: 9, onFailure: "continue" }],
        "before-tool": [{ command: ["x", "y"] }],
        "after-compaction": ["with space"],
      },
      transformContext: ["plug::t"],
      inputFilters: ["a", "b"],
      convertToLlm: "c",
      contextTranslation: null,
    });
  });

  test("permissions, approvals, nudges, revert and output have the same form as in code [CFG-29.1]", () => {
    const text = `[permissions]
otherwise = "ask"
rules = [{ tool = ["bash", "edit_*"], command = "git push", outcome = "deny", reason = "no" }]
[approvals]
timeout_ms = 5
[nudges]
max = 0
[revert]
newest_of_kind = 1
[output]
schema = '{"type": "object", "properties": {"a": {"enum": [null, 1]}}}'
`;
    expect(loadAgent(text)).toMatchObject({
      permissions: {
        otherwise: "ask",
        rules: [{ tool: ["bash", "edit_*"], command: "git push", outcome: "deny", reason: "no" }],
      },
      approvals: { timeoutMs: 5, countsAsDuration: false },
      nudges: { enabled: true, max: 0 },
      revert: { shownForTurns: 5, newestOfKind: 1 },
      output: { type: "json-schema", schema: { type: "object", properties: { a: { enum: [null, 1] } } } },
    });
  });
});

describe("sub-agents", () => {
  const TWO = `
[provider.cost]
input_per_million = 2
[[sub_agents.instances]]
name = "researcher"
description = "Searches"
system_prompt = "Search."
model = "claude-haiku"
max_turns = 12
tools = ["search"]
[[sub_agents.instances]]
id = "{{%writer%}}"
provider = "{{provider.fast}}"
thinking_level = "low"
sub_agents = ["researcher"]
[[provider.instances]]
id = "fast"
model = "claude-fast"
[execution]
max_turns = 3
`;

  test("name, description, prompt, model, provider, limits and tools; they inherit nothing [CFG-17.2, CFG-24.1, SUB-04.1-2, SUB-12.1-2, X-30, SUB-03.2]", () => {
    const { subAgents = [], limits } = loadAgent(PROVIDER + TWO);
    expect(limits.maxTurns).toBe(3);
    expect(subAgents).toMatchObject([
      {
        name: "researcher",
        description: "Searches",
        limits: { maxTurns: 12, maxTotalTokens: 1_000_000, maxDurationMs: 300_000 },
        agent: {
          name: "researcher",
          systemPrompt: "Search.",
          model: { id: "claude-haiku", apiKey: "${KEY}", cost: { input: 2 } },
          tools: ["search"],
          limits: { maxTurns: 50 },
        },
      },
      {
        name: "writer",
        agent: { thinking: "low", model: { id: "claude-fast" }, subAgents: [{ name: "researcher" }] },
      },
    ]);
    expect(subAgents[0]!.agent.subAgents).toBeUndefined();
  });

  test("an agent may choose among them [CFG-24.2]", () => {
    const some = `${PROVIDER}${TWO}[[agent.instances]]\nname = "a"\nsub_agents = ["{{sub_agent.writer}}"]\n[[agent.instances]]\nname = "b"\nsub_agents = []\n`;
    const { a, b } = loadDefinitions(some);
    expect(a!.subAgents?.map(({ name }) => name)).toEqual(["writer"]);
    expect(b!.subAgents).toEqual([]);
  });
});

describe("sandbox", () => {
  const nothing = { network: { allow: [] }, readable: [], writable: [], env: [] };

  test.each([
    ["", undefined],
    ['sandbox = "off"\n', { mode: "off", ...nothing }],
    ['sandbox = "worker"\n', undefined],
    ["[sandbox]\n", { mode: "workspace", ...nothing }],
    ['[sandbox]\nmode = "strict"\nenv = ["CI"]\n', { mode: "strict", ...nothing, env: ["CI"] }],
    [
      '[sandbox]\nreadable = ["~/.m2"]\nwritable = ["/var/cache"]\nnetwork = { allow = ["a.example:443"], ask = ["*.b.example:443"] }\n',
      {
        ...nothing,
        mode: "workspace",
        readable: ["~/.m2"],
        writable: ["/var/cache"],
        network: { allow: ["a.example:443"], ask: ["*.b.example:443"] },
      },
    ],
  ])("is that of the section or of its short form: %j", (text, sandbox) => {
    expect(loadAgent(`${text}${PROVIDER}`).sandbox).toEqual(sandbox);
  });

  test("an agent's own replaces the file's as a whole", () => {
    const load = (own: string) =>
      loadAgent(`${PROVIDER}[sandbox]\nnetwork.allow = ["a.example:443"]\n[[agent.instances]]\n${own}`)
        .sandbox;
    expect(load("")).toMatchObject({ mode: "workspace", network: { allow: ["a.example:443"] } });
    expect(load('sandbox = "off"')).toEqual({ mode: "off", ...nothing });
    expect(load('sandbox = { mode = "strict" }')).toEqual({ mode: "strict", ...nothing });
    expect(load('sandbox = "worker"')).toBeUndefined();
  });

  test("a sub-agent has the file's, unless it states another", () => {
    const load = (own: string) =>
      loadAgent(`sandbox = "strict"\n${PROVIDER}[[sub_agents.instances]]\nname = "s"\n${own}`).subAgents?.[0]
        ?.agent.sandbox?.mode;
    expect(load("")).toBe("strict");
    expect(load('sandbox = "workspace"')).toBe("workspace");
    expect(load('sandbox = "worker"')).toBeUndefined();
  });

  test.each([
    ['sandbox = "of"', "sandbox", 'did you mean "off"?'],
    ['sandbox = { mode = "strct" }', "sandbox.mode", 'did you mean "strict"?'],
    ["sandbox = { netwrk = {} }", "sandbox.netwrk", 'did you mean "network"?'],
    ["sandbox = { network = { alow = [] } }", "sandbox.network.alow", 'did you mean "allow"?'],
    ['sandbox = { network = { allow = ["a.example"] } }', "sandbox.network.allow[0]", "name:port"],
    ['sandbox = { readable = ["src"] }', "sandbox.readable[0]", "absolute path"],
    ['sandbox = { env = ["HOLDFAST_HOME"] }', "sandbox.env[0]", "not one of Holdfast's own"],
    ['sandbox = { mode = "off", writable = ["/a"] }', "sandbox.mode", "remove `network`"],
  ])("a mistake is an error with its place: %s", (text, field, words) => {
    const { agents, problems } = load(`${text}\n${PROVIDER}`);
    expect(agents).toEqual([]);
    expect(problems).toMatchObject([{ field, severity: "error", file: "agent.toml", line: 1 }]);
    expect(problems[0]?.message).toContain(words);
  });

  test("a server that is a program may have its own", () => {
    const load = (own: string) =>
      loadAgent(`${PROVIDER}[[mcp]]\nname = "s"\ncommand = "server"\n${own}`).mcp?.[0]?.transport;
    expect(load("")).not.toHaveProperty("sandbox");
    expect(load('sandbox = "off"')).toMatchObject({ type: "stdio", sandbox: { mode: "off", ...nothing } });
    expect(load('[mcp.sandbox]\nnetwork.allow = ["a.example:443"]')).toMatchObject({
      sandbox: { mode: "workspace", network: { allow: ["a.example:443"] } },
    });
    expect(load('[mcp.sandbox]\nmode = "strict"\nbounds.memory_bytes = 1048576')).toMatchObject({
      sandbox: { mode: "strict", bounds: { memoryBytes: 1_048_576 } },
    });
  });

  test("the values are recorded with their places", () => {
    const values = load(`sandbox = "off"\n${PROVIDER}`).agents[0]?.resolvedValues ?? [];
    const value = values.find(({ path }) => path === "sandbox.mode");
    expect(value).toMatchObject({ value: "off", from: "agent.toml:1:11", field: "sandbox" });
  });
});

describe("skills", () => {
  test.each([
    ["", undefined],
    ["[skills]", { folders: ["~/.holdfast/skills"], allowTools: false }],
    [
      '[skills]\nfolders = ["a"]\nnames = ["x"]\nallow_tools = true',
      { folders: ["a"], names: ["x"], allowTools: true },
    ],
    ['[agent.profile]\nskills = ["x"]', { folders: ["~/.holdfast/skills"], names: ["x"], allowTools: false }],
    [
      '[agent.profile]\nskills = []\n[skills]\nfolders = ["a"]\nnames = ["x"]',
      { folders: ["a"], names: [], allowTools: false },
    ],
    [
      '[skills]\nfolders = ["a"]\n[agent.profile]\nskills = ["x"]\n[[agent.instances]]\nskills = ["y"]',
      { folders: ["a"], names: ["y"], allowTools: false },
    ],
    [
      '[skills]\nfolders = ["a"]\nallow_tools = true\n[[agent.instances]]\nskills = { folders = ["b"] }',
      { folders: ["b"], allowTools: true },
    ],
  ])("are those of the section and the nearest list of names: %j [CFG-05.2]", (text, skills) => {
    expect(loadAgent(`${PROVIDER}${text}`).skills).toEqual(skills);
  });

  test("a sub-agent has only those of its own table [SUB-12.1]", () => {
    const sub = (own: string) =>
      loadAgent(`${PROVIDER}[skills]\nfolders = ["a"]\n[[sub_agents.instances]]\nname = "s"\n${own}`)
        .subAgents?.[0]?.agent.skills;
    expect(sub("")).toBeUndefined();
    expect(sub('skills = ["x"]')).toMatchObject({ folders: ["~/.holdfast/skills"], names: ["x"] });
    expect(sub('skills = { folders = ["b"] }')).toMatchObject({ folders: ["b"] });
  });

  test("a profile's names are recorded as coming from it [CFG-29.3]", () => {
    const { agents } = load(`${PROVIDER}[agent.profile]\nskills = ["x"]\n`);
    const value = agents[0]?.resolvedValues.find(({ path }) => path === "skills.names[0]");
    expect(value).toMatchObject({ value: "x", from: "agent.toml:5:11", field: "agent.profile.skills[0]" });
  });
});
