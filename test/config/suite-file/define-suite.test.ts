import { expect, test } from "vitest";
import { parseModel } from "../../../src/config/parse-model.ts";
import { defineSuite, SuiteError, type SuiteInput } from "../../../src/config/suite-file/define-suite.ts";
import { listCases } from "./suite-files.ts";

const agent = { name: "agent", model: parseModel("anthropic/claude-sonnet-4-5") };

const base: SuiteInput = { name: "s", configurations: [{ agent }], cases: [{ id: "a", input: "x" }] };

test("a suite in code is what a suite file would be", async () => {
  const suite = defineSuite({
    ...base,
    configurations: [{ agent }, { name: "warm", agent: { ...agent, temperature: 1 } }],
    maxCostUsd: 2,
    versions: { mine: "2" },
    scorers: [
      { type: "exact" },
      { type: "judge", agent, rubric: [{ id: "short", description: "It is short." }] },
    ],
  });
  expect(suite).toMatchObject({
    name: "s",
    tags: [],
    configurations: [{ name: "agent" }, { name: "warm", definition: { temperature: 1 } }],
    repetitions: 1,
    concurrency: 20,
    maxCostUsd: 2,
    stopAfterFailures: 20,
    keepWorkspaces: false,
    versions: { mine: "2" },
    scorers: [
      { scorer: { type: "exact", trim: true } },
      { scorer: { type: "judge" }, judge: { name: "agent" } },
    ],
  });
  expect(await listCases(suite)).toEqual([{ id: "a", messages: ["x"] }]);
});

test("cases of code may be any iterable, or a function that returns one", async () => {
  async function* generate() {
    yield { id: "a", input: "x" };
  }
  for (const cases of [
    new Set([{ id: "a", input: "x" }]),
    generate(),
    generate,
    async () => [{ id: "a", input: "x" }],
  ]) {
    expect(await listCases(defineSuite({ ...base, cases }))).toEqual([{ id: "a", messages: ["x"] }]);
  }
});

test("an invalid case is reported with its number", async () => {
  const cases = [
    { id: "a", input: "x" },
    { id: "b", input: "" },
  ];
  await expect(listCases(defineSuite({ ...base, cases }))).rejects.toThrow(
    "cases: error: [1].input: must not be empty",
  );
});

test.each<readonly [string, object, readonly string[]]>([
  ["a misspelt key", { repetition: 3 }, ['repetition: unknown key; did you mean "repetitions"?']],
  [
    "no cases",
    { cases: undefined },
    ["cases: is missing; it must be an array, an iterable, or a function that returns one"],
  ],
  ["no configuration", { configurations: [] }, ["configurations: must not be empty"]],
  [
    "equal names",
    { configurations: [{ agent }, { agent }] },
    [
      'configurations.1.name: another of the configurations before has the name "agent": give it a name of its own',
    ],
  ],
  [
    "a wrong agent",
    { configurations: [{ agent: { ...agent, temprature: 1 } }] },
    ['configurations.0.agent.temprature: unknown key; did you mean "temperature"?'],
  ],
  [
    "a wrong scorer",
    { scorers: [{ type: "exact", ignorecase: true }] },
    ['scorers.0.ignorecase: unknown key; did you mean "ignoreCase"?'],
  ],
  [
    "a wrong judge",
    { scorers: [{ type: "judge", agent: { ...agent, thinking: 3 }, rubric: [] }] },
    [expect.stringContaining("scorers.0.agent.thinking: "), "scorers.0.rubric: must not be empty"],
  ],
  [
    "scorers of one name",
    { scorers: [{ type: "exact" }, { type: "exact" }] },
    ['scorers.1.name: another of the scorers before has the name "exact": give it a name of its own'],
  ],
])("%s is an error", (_, part, problems) => {
  let caught: unknown;
  try {
    defineSuite({ ...base, ...part } as SuiteInput);
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(SuiteError);
  expect((caught as SuiteError).problems).toEqual(problems);
});
