import { expect, test } from "vitest";
import { AGENT, listCases, read, readSound } from "./suite-files.ts";

const CASES = '[[cases]]\ninput = "x"\n';
const HEAD = 'name = "s"\nagents = ["agent.toml"]\n';

test("a suite file states everything in the keys of agent files", async () => {
  const text = `name = "arithmetic"
tags = ["nightly"]
agents = ["agents/small.toml", "two.yaml#second"]
repetitions = 3
concurrency = 40
max_cost = 5
stop_after_failures = "none"
keep_workspaces = true
cases = "cases.jsonl"
versions = { my_tool = "2" }
[[scorers]]
type = "exact"
ignore_case = true
match = "prefix"
[[scorers]]
type = "command"
command = "echo \${HOME}"
timeout_ms = 1000
files = { "my_file.py" = "{{code}}" }
[[scorers]]
type = "judge"
name = "quality"
agent = "agents/small.toml"
rubric = [{ id = "short", description = "The answer is short." }]
`;
  const suite = await readSound({
    "suite.toml": text,
    "agents/small.toml": AGENT,
    "two.yaml":
      "provider: { model: claude-sonnet-4-5, api_key: '${KEY}' }\nagent: { instances: [{ name: first }, { name: second }] }\n",
    "cases.jsonl": '{"id":"a","input":"1 + 1?","expected":"2"}\n',
  });
  expect(suite).toMatchObject({
    name: "arithmetic",
    tags: ["nightly"],
    configurations: [{ name: "small" }, { name: "two#second", definition: { name: "second" } }],
    repetitions: 3,
    concurrency: 40,
    maxCostUsd: 5,
    stopAfterFailures: null,
    keepWorkspaces: true,
    versions: { my_tool: "2" },
    scorers: [
      { scorer: { type: "exact", ignoreCase: true, match: "prefix", trim: true } },
      { scorer: { command: "echo ${HOME}", timeoutMs: 1000, files: { "my_file.py": "{{code}}" } } },
      {
        scorer: { type: "judge", agent: "agents/small.toml" },
        judge: { model: { id: "claude-sonnet-4-5" } },
      },
    ],
  });
  expect(await listCases(suite)).toEqual([{ id: "a", messages: ["1 + 1?"], expected: "2" }]);
});

test("YAML and JSON say the same, and defaults are few", async () => {
  const yaml = "name: s\nagents: [agent.toml]\ncases:\n  - id: one\n    input: x\n";
  const json = '{"name":"s","agents":["agent.toml"],"cases":[{"id":"one","input":"x"}]}';
  for (const [file, text] of [
    ["suite.yaml", yaml],
    ["suite.json", json],
  ] as const) {
    const { suite, problems } = await read({ [file]: text, "agent.toml": AGENT }, { file });
    expect(problems).toEqual([]);
    expect(suite).toMatchObject({
      tags: [],
      repetitions: 1,
      concurrency: 20,
      maxCostUsd: null,
      stopAfterFailures: 20,
      keepWorkspaces: false,
      scorers: [],
    });
    expect(await listCases(suite!)).toEqual([{ id: "one", messages: ["x"] }]);
  }
});

test("files of equal names are told apart by their folders", async () => {
  const { configurations } = await readSound({
    "suite.toml": `name = "s"\nagents = ["a/agent.toml", "b/agent.toml", "c.toml"]\n${CASES}`,
    "a/agent.toml": AGENT,
    "b/agent.toml": AGENT,
    "c.toml": AGENT,
  });
  expect(configurations.map(({ name }) => name)).toEqual(["a/agent", "b/agent", "c"]);
});

const MISTAKES: readonly (readonly [string, string, readonly (string | RegExp)[]])[] = [
  [
    "nothing",
    "",
    [/^suite.toml:1:1: error: name: is missing/, /cases: is missing/, /no configuration: add agents/],
  ],
  [
    "a misspelt key",
    `${HEAD}repetition = 3\n${CASES}`,
    ['suite.toml:3:1: error: repetition: unknown key; did you mean "repetitions"?'],
  ],
  [
    "a key of a draft",
    `${HEAD}max_cost_usd = 3\n${CASES}`,
    ["suite.toml:3:1: error: max_cost_usd: unknown key; write `max_cost`, in dollars"],
  ],
  [
    "a wrong value",
    `${HEAD}repetitions = 0\n${CASES}`,
    ["suite.toml:3:15: error: repetitions: must be at least 1, not 0"],
  ],
  [
    "a scorer's type",
    `${HEAD}${CASES}[[scorers]]\ntype = "exactt"\n`,
    [/^suite.toml:6:8: error: scorers\[0\].type: must be "exact", .*; did you mean "exact"\?$/],
  ],
  [
    "a scorer without a type",
    `${HEAD}${CASES}[[scorers]]\nname = "x"\n`,
    [/^suite.toml:5:3: error: scorers\[0\].type: is missing/],
  ],
  [
    "a key in another style",
    `${HEAD}${CASES}[[scorers]]\ntype = "exact"\nignoreCase = true\n`,
    ['suite.toml:7:1: error: scorers[0].ignoreCase: unknown key; did you mean "ignore_case"?'],
  ],
  [
    "a key of another scorer",
    `${HEAD}${CASES}[[scorers]]\ntype = "exact"\ntolerance = 1\n`,
    [
      "suite.toml:7:1: error: scorers[0].tolerance: unknown key; known here: type, name, expected, ignore_case, trim, match",
    ],
  ],
  [
    "scorers of the same name",
    `${HEAD}${CASES}[[scorers]]\ntype = "exact"\n[[scorers]]\ntype = "exact"\n`,
    [
      'suite.toml:8:8: error: scorers[1].type: another scorer before has the name "exact": add a name of its own, as `name`',
    ],
  ],
  [
    "a broken pattern",
    `${HEAD}${CASES}[[scorers]]\ntype = "regex"\npattern = "("\n`,
    [/^suite.toml:7:11: error: scorers\[0\].pattern: this is not a regular expression: /],
  ],
  [
    "an agent that is not there",
    `name = "s"\nagents = ["none.toml"]\n${CASES}`,
    ["suite.toml:2:11: error: agents[0]: none.toml: it cannot be read: there is no such file"],
  ],
  [
    "an agent twice",
    `name = "s"\nagents = ["agent.toml", "agent.toml"]\n${CASES}`,
    ["suite.toml:2:25: error: agents[1]: agent.toml stands twice"],
  ],
  [
    "no name of several agents",
    `name = "s"\nagents = ["two.toml"]\n${CASES}`,
    [
      "suite.toml:2:11: error: agents[0]: two.toml defines 2 agents; choose one: two.toml#first, two.toml#second",
    ],
  ],
  [
    "a wrong name of an agent",
    `name = "s"\nagents = ["two.toml#frist"]\n${CASES}`,
    ['suite.toml:2:11: error: agents[0]: two.toml defines no agent "frist"; did you mean "first"?'],
  ],
  [
    "a broken agent",
    `name = "s"\nagents = ["broken.toml"]\n${CASES}`,
    [/^broken.toml:5:1: error: execution.max_turn: unknown key; did you mean "max_turns"\?$/],
  ],
  [
    "an inline case",
    `${HEAD}[[cases]]\ninput = "x"\nfork = { sesion = "s" }\n`,
    [
      /cases\[0\].fork.session: is missing/,
      'suite.toml:5:10: error: cases[0].fork.sesion: unknown key; did you mean "session"?',
    ],
  ],
  [
    "an inline case without input",
    `${HEAD}[[cases]]\nid = "x"\n`,
    ["suite.toml:3:3: error: cases[0].input: is missing; it must be a text, or a list of texts"],
  ],
  [
    "equal ids",
    `${HEAD}[[cases]]\nid = "x"\ninput = "1"\n[[cases]]\nid = "x"\ninput = "2"\n`,
    ['suite.toml:7:6: error: cases[1].id: another case before has the id "x"'],
  ],
  [
    "both ways",
    `${HEAD}${CASES}[matrix]\nagent = "agent.toml"\n`,
    [/^suite.toml:2:10: error: agents: a suite has either/],
  ],
  ["no TOML", "name = \n", [/^suite.toml:2:1: error: This is not TOML/]],
];

test.each(MISTAKES)("%s is reported with its place", async (_, text, expected) => {
  const files = {
    "suite.toml": text,
    "agent.toml": AGENT,
    "two.toml": `${AGENT}[[agent.instances]]\nname = "first"\n[[agent.instances]]\nname = "second"\n`,
    "broken.toml": `${AGENT}[execution]\nmax_turn = 3\n`,
  };
  const { suite, problems } = await read(files);
  expect(suite).toBeUndefined();
  expect(problems).toEqual(
    expected.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
  );
});

test("a missing variable of an agent file is an error of that file, and ${NAME} in a suite file is text", async () => {
  const { problems } = await read({
    "suite.toml": `${HEAD}[[cases]]\ninput = "\${NAME}"\n`,
    "agent.toml": AGENT.replace("claude-sonnet-4-5", "${MODEL}"),
  });
  expect(problems).toEqual([
    expect.stringContaining("agent.toml:2:9: warning"),
    expect.stringContaining(
      "agent.toml:2:10: error: provider.model: The environment variable MODEL is not set",
    ),
  ]);
});

test("a file that is not there is a problem", async () => {
  const { problems } = await read({}, { file: "none.toml" });
  expect(problems).toEqual(["none.toml: error: it cannot be read: there is no such file"]);
});

test("an untrusted suite uses files of its own folder only, and runs no program", async () => {
  const files = {
    "in/agent.toml": AGENT,
    "in/c.mjs": "export default [];",
    "in/ok.jsonl": '{"input":"x","files":{"a":{"from":"../agent.toml"}}}',
    "agent.toml": AGENT,
    "c.jsonl": '{"input":"x"}',
  };
  const open = async (agent: string, cases: string) =>
    read(
      { ...files, "in/suite.toml": `name = "s"\nagents = ["${agent}"]\ncases = "${cases}"\n` },
      { file: "in/suite.toml", untrusted: true },
    );
  expect((await open("../agent.toml", "../c.jsonl")).problems).toEqual([
    expect.stringContaining("agents[0]: ../agent.toml is not in the folder of the suite file"),
    expect.stringContaining("cases: ../c.jsonl is not in the folder of the suite file"),
  ]);
  expect((await open("agent.toml", "c.mjs")).problems).toEqual([
    expect.stringContaining("which an untrusted suite must not run"),
  ]);
  const { suite, problems } = await open("agent.toml", "ok.jsonl");
  expect(problems).toEqual([]);
  const check = await suite!.checkCases();
  expect(check.problems).toMatchObject([
    { field: "files.a.from", message: expect.stringContaining("must not leave") },
  ]);
});

test("an agent works in the current folder only if its file says so", async () => {
  const tools = '[tools]\nenabled = ["bash"]\n';
  const helper = '[[sub_agents.instances]]\nname = "helper"\ndescription = "Helps."\n';
  const suite = await readSound({
    "suite.toml": `name = "s"\nagents = ["plain.toml", "stated.toml"]\n${CASES}`,
    "plain.toml": `${AGENT}${tools}${helper}`,
    "stated.toml": `default_workspace = "."\n${AGENT}${tools}${helper}`,
  });
  const [plain, stated] = suite.configurations.map(({ definition }) => definition);
  expect(plain?.workspace).toBeUndefined();
  expect(plain?.subAgents?.[0]?.agent.workspace).toBeUndefined();
  expect(stated?.workspace).toBeTypeOf("string");
  expect(stated?.subAgents?.[0]?.agent.workspace).toBe(stated?.workspace);
});
