import { expect, test } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";
import type { SourceFormat } from "../../src/config/source/source-format.ts";
import { listProblems } from "./agent-files.ts";

// Mistakes of a first hour. Each message says where, what, and what to write instead.

const PROVIDER = '[provider]\nmodel = "claude-sonnet-4-5"\napi_key = "${KEY}"\n';

const BAD_AGENT = "unknown key, not used; `model` belongs in `[provider]`";

test.each<readonly [mistake: string, format: SourceFormat, text: string, messages: readonly string[]]>([
  [
    "a model in [agent]",
    "toml",
    `${PROVIDER}[agent]\nmodel = "claude-opus-4-5"\n`,
    [`agent.toml:5:1: warning: agent.model: ${BAD_AGENT}`],
  ],
  [
    "a model in [agent], in YAML",
    "yaml",
    "agent:\n  model: claude\nprovider:\n  model: claude-sonnet-4-5\n  api_key: ${KEY}\n",
    [`agent.yaml:2:3: warning: agent.model: ${BAD_AGENT}`],
  ],
  [
    "a model in [agent], in JSON",
    "json",
    '{"agent": {"model": "claude"},\n"provider": {"model": "claude-sonnet-4-5", "api_key": "${KEY}"}}',
    [`agent.json:1:12: warning: agent.model: ${BAD_AGENT}`],
  ],
  [
    "a limit in [provider], a slip in another section's key, a common key",
    "toml",
    `${PROVIDER}max_cost = 2\n[agent]\ntemprature = 1\nmax_turns = 3\n[execution]\ntype = "x"\n`,
    [
      "agent.toml:4:1: warning: provider.max_cost: unknown key, not used; `max_cost` belongs in `[execution]`",
      'agent.toml:6:1: warning: agent.temprature: unknown key, not used; did you mean "temperature", which belongs in `[agent.profile]`?',
      "agent.toml:7:1: warning: agent.max_turns: unknown key, not used; `max_turns` belongs in `[execution]`",
      expect.stringContaining("agent.toml:9:1: error: execution.type: unknown key; known here: max_turns,"),
    ] as readonly string[],
  ],
  [
    "keys of no section",
    "toml",
    `temperature = 1\nsystem_prompt = "x"\n${PROVIDER}[limits]\nmax_turns = 3\n[agent.execution]\nmax_turns = 3\n`,
    [
      "agent.toml:1:1: warning: temperature: unknown key, not used; `temperature` belongs in `[agent.profile]`",
      'agent.toml:2:17: error: system_prompt: expected a table of named prompts; the text of the agent\'s own prompt is `system_prompt` in [agent], found "x"',
      "agent.toml:6:2: warning: limits: unknown key, not used; limits belong in `[execution]`",
      "agent.toml:8:8: warning: agent.execution: unknown key, not used; `execution` belongs at the top level of the file, as `[execution]`",
    ],
  ],
  [
    "an MCP server without and with too many addresses",
    "toml",
    `${PROVIDER}[[mcp]]\nname = "one"\n[[mcp]]\nname = "two"\ncommand = "npx"\nurl = "https://x.y"\ntype = "stdio"\n`,
    [
      "agent.toml:4:3: error: mcp[0].command: a server has one of `command`, `url`, and this one has neither: add `command` for a program that the worker starts, or `url` for a server that uses HTTP",
      "agent.toml:9:7: error: mcp[1].url: a server has one of `command`, `url`, and this one has both: remove `url` for a program that the worker starts, or `command` for a server that uses HTTP",
      "agent.toml:10:1: error: mcp[1].type: unknown key; remove it: a server with `command` is a program, one with `url` uses HTTP",
    ],
  ],
  [
    "servers in the form of another program",
    "json",
    '{"provider": {"model": "claude-sonnet-4-5", "api_key": "${KEY}"},\n"mcpServers": {"fs": {"command": "npx"}}}',
    [
      "agent.json:2:1: warning: mcpServers: unknown key, not used; servers are `[[mcp]]` tables; `holdfast mcp import FILE --into AGENT_FILE` converts such a file",
    ],
  ],
  [
    "rules in the form of another program",
    "toml",
    `${PROVIDER}[permissions]\nallow = ["bash"]\n`,
    [
      "agent.toml:5:1: error: permissions.allow: unknown key; write each rule as a `[[permissions.rules]]` table with its conditions, such as `tool`, and its `outcome`",
    ],
  ],
  [
    "values of a wrong type",
    "toml",
    `tools = ["bash"]\n${PROVIDER}[execution]\nmax_duration_secs = "10m"\nmax_turns = -1\n[session]\nscope = ""\n`,
    [
      'agent.toml:1:9: error: tools: expected a table with the keys enabled, strict, tool_strategy, batch_size, timeout_ms, snapshots, found ["bash"]',
      'agent.toml:6:21: error: execution.max_duration_secs: expected a number above 0 or "none", found "10m"',
      'agent.toml:7:13: error: execution.max_turns: expected a whole number from 1 or "none", found -1',
      'agent.toml:9:9: error: session.scope: expected "ephemeral" or "persistent", found ""',
    ],
  ],
  [
    "an unknown tool",
    "toml",
    `${PROVIDER}[tools]\nenabled = ["bsh", "browser"]\n`,
    [
      'agent.toml:5:12: warning: tools.enabled[0]: tool "bsh" is not built in; it is left out unless the worker has it; did you mean "bash"?',
      'agent.toml:5:19: warning: tools.enabled[1]: tool "browser" is not built in; it is left out unless the worker has it; built-in tools are bash, read_file',
    ],
  ],
  [
    "an unknown vendor",
    "toml",
    '[provider]\napi = "opnai"\nmodel = "gpt-5"\napi_key = "${KEY}"\n',
    [
      expect.stringMatching(
        /^agent\.toml:2:7: error: provider\.api: expected "anthropic_messages", .*, found "opnai"; did you mean "openai"\?$/,
      ),
    ] as readonly string[],
  ],
  [
    "a misspelt model",
    "toml",
    '[provider]\nmodel = "claude-sonet-4-5"\napi_key = "${KEY}"\n',
    [
      expect.stringContaining(
        "agent.toml:2:9: warning: provider.model: anthropic/claude-sonet-4-5 is not in the catalogue: did you mean anthropic/claude-sonnet-4-5? Otherwise ",
      ),
    ] as readonly string[],
  ],
  [
    "a literal key",
    "toml",
    '[provider]\nmodel = "claude-sonnet-4-5"\napi_key = "sk-ant-api03-0123456789abcdef"\n',
    [
      "agent.toml:3:11: error: provider.api_key: expected the environment variable that holds the key, as ${NAME}, never the key itself; absent if the server needs no key",
    ],
  ],
  [
    "a key without quotes",
    "toml",
    '[provider]\nmodel = "claude-sonnet-4-5"\napi_key = sk-ant-api03-0123456789abcdef\n',
    ["agent.toml:3:11: error: This is not TOML: A text needs quotes around it"],
  ],
  [
    "a colon in TOML",
    "toml",
    '[provider]\nmodel: "claude"\n',
    ['agent.toml:2:6: error: This is not TOML: A value follows its key after "=", not after ":"'],
  ],
  [
    "quotes of a word processor",
    "toml",
    "[provider]\nmodel = “claude”\n",
    ['agent.toml:2:9: error: This is not TOML: “ is a typographic quote: write " instead'],
  ],
  [
    "a section twice",
    "toml",
    `${PROVIDER}[tools]\nstrict = true\n[tools]\nenabled = []\n`,
    [
      'agent.toml:6:2: error: This is not TOML: The key "tools" occurs twice in its table: remove one of them, or merge the two',
    ],
  ],
  [
    "a key twice, in YAML",
    "yaml",
    'provider:\n  model: a\n  "model": b\n',
    [
      'agent.yaml:3:3: error: This is not YAML: The key "model" occurs twice in its table: remove one of them, or merge the two',
    ],
  ],
  [
    "a key twice, in JSON",
    "json",
    '{"provider": {"model": "a",\n"model": "b"}}',
    [
      'agent.json:2:1: error: This is not JSON: The key "model" occurs twice in its table: remove one of them, or merge the two',
    ],
  ],
  [
    "a tab in YAML",
    "yaml",
    "provider:\n\tmodel: claude\n",
    ["agent.yaml:2:1: error: This is not YAML: Tabs are not allowed as indentation: use spaces"],
  ],
  [
    "an uneven indentation in YAML",
    "yaml",
    "provider:\n  model: claude\n api_key: x\n",
    [
      "agent.yaml:3:1: error: This is not YAML: All mapping items must start at the same column: indent this line like the ones of the same table",
    ],
  ],
  [
    "a comment in JSON",
    "json",
    '{\n  // the model\n  "provider": {}\n}',
    [
      "agent.json:2:3: error: This is not JSON: JSON has no comments: remove this one, or write the file in TOML or YAML",
    ],
  ],
  [
    "a comma at the end of a JSON object",
    "json",
    '{\n  "provider": {"model": "claude",}\n}',
    ["agent.json:2:34: error: This is not JSON: There is a comma before }: remove it"],
  ],
  [
    "another encoding",
    "toml",
    Buffer.from("\uFEFF[provider]\n", "utf16le").toString("utf8"),
    ["agent.toml:1:1: error: The file is not text in UTF-8: save it in that encoding"],
  ],
  [
    "a prompt instead of an agent file",
    "yaml",
    "You are a helper.\n",
    [
      'agent.yaml:1:1: error: The file must be a table of sections, found "You are a helper.": an agent file has at least [provider] with a model; `holdfast init` writes one',
    ],
  ],
  [
    "an empty file",
    "toml",
    "",
    [
      'agent.toml:1:1: error: provider: no model is specified: add [provider] with model = "…" and api_key = "${NAME}"',
    ],
  ],
  ["a byte order mark", "toml", `\uFEFF${PROVIDER}`, []],
  [
    "an anchor in YAML",
    "yaml",
    "provider: &it\n  model: claude-sonnet-4-5\n  api_key: ${KEY}\nagent:\n  fallbacks: [*it]\n",
    [],
  ],
])("%s", (_, format, text, messages) => {
  const problems = listProblems(text, {
    format,
    knownTools: ["bash", "read_file"],
    unknownModels: "doubted",
  });
  expect(problems.map(formatProblem)).toEqual(messages);
});

test("no message displays a secret that stands in the wrong place", () => {
  const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  for (const text of [
    `${PROVIDER}[mcp.fs]\ncommand = "npx"\nenv = { GITHUB_TOKEN = "${secret}" }\n`,
    `mcp = { fs = { headers = { Authorization = "${secret}" } } }\n${PROVIDER}`,
    `${PROVIDER}[[mcp]]\nname = "fs"\nenv = { GITHUB_TOKEN = "${secret}" }\n`,
  ]) {
    const problems = listProblems(text);
    expect(problems.map(({ severity }) => severity)).toContain("error");
    expect(JSON.stringify(problems)).not.toContain(secret);
  }
});
