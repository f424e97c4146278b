import { expect, test } from "vitest";
import { AGENT, read, readSound } from "./suite-files.ts";

const suite = (matrix: string) => `name = "s"\n[[cases]]\ninput = "x"\n[matrix]\n${matrix}`;

const load = (matrix: string, agent = AGENT) =>
  readSound({
    "suite.toml": suite(matrix),
    "agent.toml": agent,
    "other.toml": AGENT,
    "a.md": "Prompt A",
    "b.md": "Prompt B",
  });

test("every combination is a configuration, and the last key varies fastest", async () => {
  const { configurations } = await load(
    'temperature = [0, 0.7]\nagent = "agent.toml"\nsystem_prompt = ["file:a.md", "Be brief."]\nmax_turns = 3\n',
  );
  expect(configurations.map(({ name }) => name)).toEqual([
    "temperature=0,system_prompt=a.md",
    "temperature=0,system_prompt=#2",
    "temperature=0.7,system_prompt=a.md",
    "temperature=0.7,system_prompt=#2",
  ]);
  expect(configurations[1]).toMatchObject({
    parameters: { temperature: 0, agent: "agent.toml", system_prompt: "Be brief.", max_turns: 3 },
    definition: { temperature: 0, systemPrompt: "Be brief.", limits: { maxTurns: 3 } },
  });
  expect(configurations[2]!.definition).toMatchObject({ temperature: 0.7, systemPrompt: "Prompt A" });
});

test("a matrix of agents names them like a list", async () => {
  const { configurations } = await load(
    'agent = ["agent.toml", "other.toml"]\nthinking_level = ["off", "high"]\n',
  );
  expect(configurations.map(({ name, definition }) => [name, definition.thinking])).toEqual([
    ["agent=agent,thinking_level=off", "off"],
    ["agent=agent,thinking_level=high", "high"],
    ["agent=other,thinking_level=off", "off"],
    ["agent=other,thinking_level=high", "high"],
  ]);
});

test("single values change every configuration, which then has the name of the agent", async () => {
  const { configurations } = await load(
    'agent = "agent.toml"\n"execution.retry.max_retries" = 1\nmax_duration_secs = 2\n',
  );
  expect(configurations).toMatchObject([
    { name: "agent", definition: { retry: { maxRetries: 1 }, limits: { maxDurationMs: 2000 } } },
  ]);
});

test("a model of another vendor has its own address, and one of the same keeps that of the file", async () => {
  const agent = `${AGENT}base_url = "http://127.0.0.1:9/v1"\n`;
  const { configurations } = await load(
    'agent = "agent.toml"\nmodel = ["anthropic/claude-opus-4-5", "openai/gpt-5"]\n',
    agent,
  );
  const [same, other] = configurations.map(({ definition }) => definition.model);
  expect(same).toMatchObject({ id: "claude-opus-4-5", baseUrl: "http://127.0.0.1:9/v1", apiKey: "${KEY}" });
  expect(other).toMatchObject({ id: "gpt-5", provider: "openai" });
  expect(other!.baseUrl).not.toContain("127.0.0.1");
  expect(other!.apiKey).not.toBe("${KEY}");
});

test.each<readonly [string, string]>([
  [
    'agent = "agent.toml"\ntemperature = [0, 1]\n"delegation.max_depth" = 2\n"compaction.keep_recent_turns" = 1\n',
    'suite.toml:8:34: error: matrix."compaction.keep_recent_turns": compaction is off, so this is not used',
  ],
  [
    'agent = "agent.toml"\ncompaction.max_context_tokens = [1000]\n',
    'suite.toml:6:1: error: matrix.compaction: unknown key; write the whole path as one quoted key, such as "compaction.max_context_tokens"',
  ],
  [
    'model = ["openai/gpt-5"]\n',
    "suite.toml:4:2: error: matrix.agent: is missing; it must be a text or a list",
  ],
  [
    'agent = "agent.toml"\nmodel = "opnai/x"\n',
    'suite.toml:6:9: error: matrix.model: Unknown provider "opnai" in model "opnai/x". Did you mean "openai"?',
  ],
  [
    'agent = "agent.toml"\nprompt = ["x"]\n',
    'suite.toml:6:1: error: matrix.prompt: unknown key; did you mean "system_prompt"?',
  ],
  [
    'agent = "agent.toml"\ntemprature = [0]\n',
    'suite.toml:6:1: error: matrix.temprature: unknown key; did you mean "temperature"?',
  ],
  [
    'agent = "agent.toml"\ntemperature = [0, 3]\n',
    "suite.toml:6:19: error: matrix.temperature[1]: must be at most 2, not 3",
  ],
  [
    'agent = "agent.toml"\nsystem_prompt = "a.md"\n',
    'suite.toml:6:17: error: matrix.system_prompt: this is the prompt itself; for a file, write "file:a.md"',
  ],
  [
    'agent = "agent.toml"\nsystem_prompt = ["x", "file:c.md"]\n',
    "suite.toml:6:23: error: matrix.system_prompt[1]: c.md cannot be read: there is no such file",
  ],
  [
    'agent = ["none.toml"]\n',
    "suite.toml:5:10: error: matrix.agent[0]: none.toml: it cannot be read: there is no such file",
  ],
  [
    `agent = "agent.toml"\nmax_turns = [${Array.from({ length: 201 }, (_, index) => index + 1)}]\n`,
    "suite.toml:4:2: error: matrix: it has 201 combinations, and a suite has at most 200 configurations",
  ],
  ['agent = "agent.toml"\nmax_turns = []\n', "suite.toml:6:13: error: matrix.max_turns: must not be empty"],
])("the matrix %j has a problem", async (matrix, message) => {
  const { problems } = await read({ "suite.toml": suite(matrix), "agent.toml": AGENT, "a.md": "A" });
  expect(problems).toEqual([expect.stringContaining(message)]);
});
