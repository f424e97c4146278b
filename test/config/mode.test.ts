import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatProblem } from "../../src/config/problem.ts";
import { FORMATS } from "../../src/config/source/source-format.ts";
import { WorkMode as Mode, type WorkMode, type WorkModeInput } from "../../src/schema/mode.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";
import { isThorough } from "../support/test-depth.ts";
import { listProblems, load, PROVIDER } from "./agent-files.ts";
import { anyDefinition } from "./any-definition.ts";
import { writeMode } from "./write-mode.ts";

const TEAM = `${PROVIDER}cost = { input_per_million = 1 }
[[agent.instances]]
name = "writer"
[[agent.instances]]
name = "editor"
`;

function modeOf(text: string): WorkMode | undefined {
  const { mode, problems } = load(TEAM + text);
  expect(problems.map(formatProblem)).toEqual([]);
  return mode;
}

describe("[mode] of a file", () => {
  test("a pipeline of agents of the file, with prompts, schemas and limits [ORC-02.3]", () => {
    const mode = modeOf(`
[mode]
type = "pipeline"
max_turns = 20
max_cost = 1.5
max_duration_secs = 60
[[mode.stages]]
agent = "writer"
[[mode.stages]]
name = "edit"
agent = "editor"
prompt = "Mend: {{input}}"
input = { type = "object" }
`);
    expect(mode).toMatchObject({
      type: "pipeline",
      stages: [
        { name: "writer", agent: { name: "writer" } },
        { name: "edit", agent: { name: "editor" }, prompt: "Mend: {{input}}", input: { type: "object" } },
      ],
      limits: { maxTurns: 20, maxCostUsd: 1.5, maxDurationMs: 60_000, maxTotalTokens: null },
    });
  });

  test("a fan-out and a supervisor have all agents of the file by default [ORC-02.4, ORC-03.1]", () => {
    expect(modeOf('[mode]\ntype = "fan-out"')).toMatchObject({
      agents: [{ name: "writer" }, { name: "editor" }],
      concurrency: 10,
      reducer: "list",
    });
    expect(
      modeOf('[mode]\ntype = "fan-out"\nagents = ["editor"]\ntasks = ["a", "b"]\nreducer = "vote"'),
    ).toMatchObject({
      agents: [{ name: "editor" }],
      tasks: ["a", "b"],
      reducer: "vote",
    });
    expect(modeOf('[mode]\ntype = "supervisor"\nagent = "editor"\nmax_agents = 7')).toMatchObject({
      maxAgents: 7,
      lead: { name: "editor" },
      agents: [{ name: "writer", agent: { name: "writer" } }],
    });
  });

  test("an autonomous and an interactive agent [ORC-02.1-2]", () => {
    expect(
      modeOf('[mode]\ntype = "autonomous"\nagent = "writer"\nmax_rounds = 9\nmax_idle_rounds = 2'),
    ).toMatchObject({
      agent: { name: "writer" },
      maxRounds: 9,
      maxIdleRounds: 2,
    });
    expect(modeOf('[mode]\ntype = "interactive"\nagent = "writer"\nidle_timeout_secs = 1.5')).toMatchObject({
      idleTimeoutMs: 1500,
    });
  });

  test('"none" is a null where a limit may be off, and a name where a name is expected', () => {
    expect(modeOf('[mode]\ntype = "fan-out"\nreducer = "none"')).toMatchObject({ reducer: "none" });
    expect(
      modeOf('[mode]\ntype = "autonomous"\nagent = "writer"\nmax_rounds = "none"\nmax_turns = "none"'),
    ).toMatchObject({ maxRounds: null, limits: { maxTurns: null } });
  });

  test("a single agent need not be named, and an id has priority over a name", () => {
    expect(load(`${PROVIDER}[mode]\ntype = "autonomous"`).mode).toMatchObject({ agent: { name: "agent" } });
    const two = `${PROVIDER}[[agent.instances]]\nid = "a"\nname = "same"\n[[agent.instances]]\nid = "b"\nname = "same"\n`;
    const { agents, mode } = load(`${two}[mode]\ntype = "interactive"\nagent = "b"`);
    expect(agents.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(mode).toMatchObject({ agent: { name: "same" } });
  });

  test.each([
    ['[mode]\ntype = "pipe"', "mode.type", /did you mean "pipeline"|expected "interactive"/],
    ['[mode]\ntype = "autonomous"\nagent = "wirter"', "mode.agent", /did you mean "writer"/],
    ['[mode]\ntype = "autonomous"', "mode", /agent is missing: this file has writer, editor/],
    [
      '[mode]\ntype = "pipeline"\nreducer = "vote"\n[[mode.stages]]\nagent = "writer"',
      "mode.reducer",
      /a mode of type "pipeline" does not have this key/,
    ],
    ['[mode]\ntype = "pipeline"', "mode", /stages/],
    [
      '[mode]\ntype = "pipeline"\n[[mode.stages]]\nname = "a b"\nagent = "writer"',
      "mode.stages[0].name",
      /letters, digits/,
    ],
    [
      '[mode]\ntype = "pipeline"\n[[mode.stages]]\nagent = "writer"\ninput = "{"',
      "mode.stages[0].input",
      /not a JSON Schema/,
    ],
    [
      '[mode]\ntype = "pipeline"\n[[mode.stages]]\nagent = "writer"\n[[mode.stages]]\nagent = "writer"',
      "mode",
      /unique names/,
    ],
    ['[mode]\ntype = "fan-out"\nmax_turn = 3', "mode.max_turn", /did you mean "max_turns"/],
  ])("%s is an error with its location", (text, field, message) => {
    const problems = listProblems(TEAM + text).filter(({ severity }) => severity === "error");
    expect(problems.map((problem) => problem.field)).toContain(field);
    expect(problems.map((problem) => problem.message).join("\n")).toMatch(message);
  });
});

const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const whole = fc.integer({ min: 1, max: 10_000_000 });
const partName = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const text = fc.oneof(
  fc.string({ unit: anyGrapheme, minLength: 1, maxLength: 20 }),
  fc.constantFrom("${HOME}", "$${HOME}", "{{input}}", "file:x", "none", "a\n'b\"", "- x", "true", "12"),
);
const limits = fc.record({
  maxTurns: orNull(whole),
  maxTotalTokens: orNull(whole),
  maxDurationMs: orNull(whole),
  maxCostUsd: orNull(fc.double({ min: 0.01, max: 99, noNaN: true })),
});
const schema = fc.dictionary(partName, fc.oneof(text, fc.constant(null), fc.boolean()), { maxKeys: 3 });

const anyMode: fc.Arbitrary<WorkMode> = fc
  .oneof(
    fc.record({
      type: fc.constant("interactive"),
      agent: anyDefinition,
      idleTimeoutMs: orNull(whole),
    }),
    fc.record({
      type: fc.constant("autonomous"),
      agent: anyDefinition,
      maxIdleRounds: fc.integer({ min: 1, max: 1000 }),
      maxRounds: orNull(whole),
      limits,
    }),
    fc.record({
      type: fc.constant("pipeline"),
      stages: fc.uniqueArray(
        fc.record({ name: partName, agent: anyDefinition, prompt: maybe(text), input: maybe(schema) }),
        { minLength: 1, maxLength: 3, selector: ({ name }) => name },
      ),
      limits,
    }),
    fc.record({
      type: fc.constant("fan-out"),
      agents: fc.array(anyDefinition, { minLength: 1, maxLength: 3 }),
      tasks: maybe(fc.array(text, { minLength: 1, maxLength: 3 })),
      concurrency: fc.integer({ min: 1, max: 100 }),
      reducer: text,
      limits,
    }),
    fc.record({
      type: fc.constant("supervisor"),
      lead: anyDefinition,
      agents: fc.uniqueArray(fc.record({ name: partName, agent: anyDefinition }), {
        minLength: 1,
        maxLength: 3,
        selector: ({ name }) => name,
      }),
      maxAgents: fc.integer({ min: 1, max: 1000 }),
      limits,
    }),
  )
  .map((input) => {
    const plain = JSON.parse(JSON.stringify(input)) as WorkModeInput & { limits?: object };
    const parsed = Mode.safeParse(plain);
    // A cost limit is rejected if a price is unknown.
    return parsed.success
      ? parsed.data
      : Mode.parse({ ...plain, limits: { ...plain.limits, maxCostUsd: null } });
  });

describe.each(FORMATS)("%s", (format) => {
  test("a random mode is the same after it is written and read back, including its agents [CFG-01.1, CFG-29.1]", () => {
    fc.assert(
      fc.property(anyMode, (mode) => {
        const written = writeMode(mode, format);
        const read = load(written, { format, env: { HOME: "/home/x", A: "a", B_1: "b" } });
        const said = read.problems.filter(({ severity }) => severity === "error").map(formatProblem);
        expect(said, written).toEqual([]);
        expect(read.mode, written).toEqual(mode);
      }),
      { numRuns: isThorough ? 25 : 8 },
    );
  });
});
