import {
  type Arbitrary,
  array,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  option,
  record,
} from "fast-check";
import type { ScenarioInput } from "../../src/devkit/scenario/schema.ts";

// Sessions of several runs whose model looks, prunes, goes back, and is interrupted.

type Reply = NonNullable<ScenarioInput["model"]>[number];
type Call = NonNullable<Reply["toolCalls"]>[number];
type Arrival = NonNullable<ScenarioInput["arrives"]>[number];
type WithoutWhen<One> = One extends Arrival ? Omit<One, "when"> : never;
type Later = WithoutWhen<Extract<Arrival, { do: "run" | "continue" }>>;

const ROWS = Array.from({ length: 12 }, (_, row) => `row ${row} of what was found`).join("\n");
const CONTEXT_OVERFLOW = {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
};

const anyCall: Arbitrary<Call> = oneof(
  { arbitrary: constant<Call>({ name: "look" }), weight: 4 },
  { arbitrary: constant<Call>({ name: "note" }), weight: 1 },
  {
    arbitrary: integer({ min: 1, max: 400 }).map((tokens): Call => ({ name: "prun", arguments: { tokens } })),
    weight: 2,
  },
  {
    arbitrary: record({
      tokens: integer({ min: 1, max: 300 }),
      memo: constantFrom("one", "two", "three"),
    }).map((given): Call => ({ name: "prun_with_memo", arguments: given })),
    weight: 2,
  },
  {
    arbitrary: record({
      category: constantFrom("failure", "failure", "tangent", "completion", "step-summary"),
      step: nat(16).map((position) => `n${position}`),
      summary: option(constantFrom("closed", "open"), { nil: undefined }),
    }).map((given): Call => ({ name: "revert_to_state", arguments: given })),
    weight: 4,
  },
);
const reply: Arbitrary<Reply> = oneof(
  {
    arbitrary: array(anyCall, { minLength: 1, maxLength: 3 }).map((toolCalls): Reply => ({ toolCalls })),
    weight: 9,
  },
  { arbitrary: constantFrom("one", "two").map((text): Reply => ({ text })), weight: 2 },
  { arbitrary: constant<Reply>({ toolCalls: [{ name: "answer", arguments: { found: "yes" } }] }), weight: 1 },
  { arbitrary: constant<Reply>({ toolCalls: [{ name: "answer", arguments: {} }] }), weight: 1 },
  {
    arbitrary: constant<Reply>({ error: { status: 400, body: JSON.stringify(CONTEXT_OVERFLOW) } }),
    weight: 1,
  },
  { arbitrary: constant<Reply>({ cut: true }), weight: 1 },
);

const during = record({
  during: constantFrom("model" as const, "model" as const, "close" as const, "open" as const),
  nth: nat(9),
});
const duringModel = record({ during: constant("model" as const), nth: nat(14) });
const text = constantFrom("faster", "and then?");
const arrival: Arbitrary<Arrival> = oneof(
  record({ when: during, do: constantFrom("steer" as const, "followUp" as const), text }),
  record({
    when: duringModel,
    do: constantFrom("crash" as const, "continueAsNew" as const, "compact" as const),
  }),
  record({ when: duringModel, do: constant("stop" as const) }),
  record({
    when: record({ during: constant("wait" as const), nth: nat(3) }),
    do: constant("prompt" as const),
    text,
  }),
);
const later: Arbitrary<Later> = oneof(
  { arbitrary: record({ do: constant("run" as const), text }), weight: 4 },
  {
    arbitrary: record({
      do: constant("continue" as const),
      kind: constantFrom("default" as const, "rerun" as const, "branch" as const),
      at: option(integer({ min: 1, max: 8 }), { nil: undefined }),
      loop: option(constant(0), { nil: undefined }),
    }),
    weight: 1,
  },
);

const SMALL = {
  maxContextTokens: 900,
  systemPromptTokens: 0,
  compaction: { keepFirstTurns: 1, keepRecentTurns: 2, toolOutputMaxLines: 4, maxSummaryTokens: 200 },
};
const OUTPUT = {
  type: "json-schema",
  name: "answer",
  schema: { type: "object", properties: { found: { type: "string" } }, required: ["found"] },
};

export const randomSession: Arbitrary<ScenarioInput> = record({
  model: array(reply, { minLength: 4, maxLength: 26 }),
  mode: constantFrom("run" as const, "interactive" as const),
  meanwhile: array(arrival, { maxLength: 4 }),
  runs: array(later, { maxLength: 4 }),
  context: constantFrom(SMALL, null, null),
  output: constantFrom(OUTPUT, undefined, undefined),
  tools: constantFrom(
    ["look", "note", "prun", "revert_to_state"],
    ["look", "note", "prun", "revert_to_state"],
    ["look", "note", "prun"],
    ["look", "note", "revert_to_state"],
  ),
  revert: option(record({ shownForTurns: nat(4), newestOfKind: nat(2) }), { nil: undefined }),
  maxTurns: integer({ min: 3, max: 12 }),
}).map(({ model, mode, meanwhile, runs, maxTurns, output, revert, ...agent }) => ({
  name: "random",
  prompt: "hi",
  mode,
  agent: {
    ...agent,
    systemPrompt: "Be brief.",
    limits: { maxTurns },
    ...(output === undefined ? {} : { output }),
    ...(revert === undefined ? {} : { revert }),
  },
  tools: [
    { name: "look", replay: "pure" as const, does: [{ gives: ROWS }] },
    { name: "note", does: [{ gives: "noted" }] },
  ],
  model,
  arrives: [
    ...meanwhile.filter(({ when }) => mode === "interactive" || when.during !== "wait"),
    ...runs.map((run, nth): Arrival => ({ when: { after: "end", nth }, ...run })),
  ],
}));
