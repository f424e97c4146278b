import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AGENT, listCases, readSound } from "./suite-files.ts";

type Spec = {
  readonly name: string;
  readonly class: string;
  readonly args: Readonly<Record<string, unknown>>;
};
type Converter = {
  readonly listSpecs: (registry: unknown) => readonly Spec[];
  readonly listDataFiles: (spec: Spec) => readonly string[];
  readonly convertSpec: (spec: Spec, agent: string) => object;
  readonly convertSample: (sample: unknown, context: object) => object;
  readonly createHumanEvalSuite: (agent: string) => object;
  readonly convertProblem: (problem: object) => object;
};

const scripts = join(import.meta.dirname, "../../../scripts");
const { listSpecs, listDataFiles, convertSpec, convertSample, createHumanEvalSuite, convertProblem } =
  (await import(join(scripts, "convert-eval-specs.mjs"))) as Converter;

const spec = (type: string, args: object = {}): Spec => ({
  name: "one.dev.v0",
  class: `evals.elsuite.${type}`,
  args: { samples_jsonl: "one/samples.jsonl", ...args },
});

/** Reads a converted suite as a user would. */
async function load(suite: object, cases: readonly object[]) {
  const loaded = await readSound(
    {
      "one/suite.json": JSON.stringify(suite),
      "one/cases.jsonl": cases.map((one) => JSON.stringify(one)).join("\n"),
      "agent.toml": AGENT,
    },
    { file: "one/suite.json" },
  );
  return { scorers: loaded.scorers.map(({ scorer }) => scorer), cases: await listCases(loaded) };
}

test("the specs of a registry are those with a class that compares texts", () => {
  const registry = {
    one: { id: "one.dev.v0", metrics: ["accuracy"] },
    "one.dev.v0": {
      class: "evals.elsuite.basic.match:Match",
      args: { samples_jsonl: "a.jsonl", num_few_shot: 2, few_shot_jsonl: "b.jsonl" },
    },
    "two.v0": { class: "evals.elsuite.modelgraded.classify:ModelBasedClassify", args: {} },
  };
  const specs = listSpecs(registry);
  expect(specs.map(({ name }) => name)).toEqual(["one.dev.v0"]);
  expect(listDataFiles(specs[0]!)).toEqual(["a.jsonl", "b.jsonl"]);
  expect(listSpecs(null)).toEqual([]);
});

test.each<readonly [string, object, object]>([
  ["basic.match:Match", {}, { type: "exact", match: "prefix", trim: false, ignoreCase: false }],
  [
    "basic.includes:Includes",
    { ignore_case: true },
    { type: "includes", ignoreCase: true, normalize: false, match: "any" },
  ],
  ["basic.fuzzy_match:FuzzyMatch", { max_tokens: 5 }, { type: "includes", normalize: true, eitherWay: true }],
])("%s is a suite with a scorer of its own", async (type, args, scorer) => {
  const sample = {
    input: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "1 + 1?" },
    ],
    ideal: ["2", "two"],
  };
  const { scorers, cases } = await load(convertSpec(spec(type, args), "../agent.toml"), [
    convertSample(sample, { number: 1 }),
  ]);
  expect(scorers).toMatchObject([scorer]);
  expect(cases).toEqual([{ id: "1", messages: ["Be brief.\n\n1 + 1?"], expected: ["2", "two"] }]);
});

test("examples come before the last message, and a conversation becomes a dialogue", () => {
  const examples = [
    [
      { role: "system", name: "example_user", content: "1?" },
      { role: "system", name: "example_assistant", content: "one" },
    ],
  ];
  const input = [
    { role: "system", content: "Spell." },
    { role: "user", content: "2?" },
  ];
  expect(convertSample({ input, ideal: "two" }, { number: 3, examples })).toEqual({
    id: "3",
    input: "Spell.\n\nUser: 1?\n\nAssistant: one\n\nUser: 2?\n\nAssistant:",
    expected: "two",
  });
});

test("a text stays as it is, and a system message alone is the message", () => {
  expect(convertSample({ input: "x", ideal: "y" }, { number: 1 })).toMatchObject({ input: "x" });
  const input = [{ role: "system", content: "Say y." }];
  expect(convertSample({ input, ideal: "y" }, { number: 1 })).toMatchObject({ input: "Say y." });
});

test.each<readonly [string, object, RegExp]>([
  ["multiple_choice:MultipleChoice", { dataset: "hf://x" }, /^its data is not in the package: hf:\/\/x$/],
  ["basic.match:Match", { separator: "," }, /^the argument separator has no counterpart$/],
  ["other:Match", {}, /^the class evals.elsuite.other:Match has no counterpart$/],
  ["basic.match:Match", { samples_jsonl: undefined }, /^it names no samples_jsonl$/],
])("a spec of %s with %j is refused with a reason", (type, args, reason) => {
  expect(() => convertSpec(spec(type, args), "a.toml")).toThrow(reason);
});

test.each<readonly [unknown, RegExp]>([
  [{ input: "x" }, /^sample 4 has no input or no ideal$/],
  [{ input: "x", ideal: 3 }, /^sample 4 has an ideal that is no text$/],
  [{ input: " ", ideal: "x" }, /^sample 4 has an empty input$/],
  [
    { input: [{ role: "user", content: [{ type: "image_url" }] }], ideal: "x" },
    /^sample 4 has a message that is no text$/,
  ],
  [{ input: [{ role: "tool", content: "x" }], ideal: "x" }, /^sample 4 has a message of the role tool$/],
])("the sample %j is refused with a reason", (sample, reason) => {
  expect(() => convertSample(sample, { number: 4 })).toThrow(reason);
});

test("a problem of HumanEval is a case whose program is run with its tests", async () => {
  const problem = {
    task_id: "HumanEval/0",
    prompt: "def double(x):\n",
    entry_point: "double",
    canonical_solution: "    return 2 * x\n",
    test: "def check(candidate):\n    assert candidate(2) == 4\n",
  };
  const { scorers, cases } = await load(createHumanEvalSuite("../agent.toml"), [convertProblem(problem)]);
  expect(scorers).toMatchObject([
    { type: "command", command: "python3 check_program.py", timeoutMs: 10_000 },
  ]);
  expect(cases).toEqual([
    {
      id: "HumanEval/0",
      messages: ["def double(x):\n"],
      expected: "    return 2 * x\n",
      metadata: { entryPoint: "double", prompt: "def double(x):\n", test: problem.test },
    },
  ]);
});

test("the command explains itself, and rejects what it does not know", () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(scripts, "eval-data.mjs"), ...args], { encoding: "utf8" });
  const help = run("--help");
  expect(help.status).toBe(0);
  expect(help.stdout).toContain("Examples:\n");
  expect(run("--limit", "0").status).toBe(2);
  expect(run("--onyl", "x")).toMatchObject({ status: 2, stderr: expect.stringContaining("--onyl") });
});
