import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";
import {
  type AgentFor,
  defineTool,
  type HoldfastWorkerOptions,
  type RegisteredName,
  type Registry,
} from "../../src/worker.ts";

const define = <const Name extends string>(name: Name) =>
  defineTool({ name, description: "", inputSchema: z.object({ cents: z.number() }), execute: () => "done" });

const registry = {
  tools: [define("charge"), define("refund")],
  filters: { noCards: (text) => (text === "" ? { type: "reject", reason: "empty" } : { type: "pass" }) },
  hooks: { audit: {} },
  transforms: { trim: (messages) => messages },
  compactions: { keepOrders: () => [] },
  reducers: { cheapest: () => "none" },
} satisfies Registry;

type Agent = AgentFor<typeof registry>;

const model = {
  id: "test-model",
  api: "anthropic_messages",
  provider: "anthropic",
  baseUrl: "http://127.0.0.1:9",
  contextWindow: 200_000,
} as const;

test("an agent may name what the registry has, and what is built in", () => {
  const agent = {
    model,
    tools: ["charge", "refund", "read_file"],
    inputFilters: ["noCards"],
    hooks: { "before-tool": ["audit", { name: "audit", timeoutMs: 5 }, { command: "./check" }] },
    transformContext: ["trim"],
    context: { compaction: { strategy: "keepOrders" } },
    subAgents: [{ name: "payer", agent: { model, tools: ["charge"] } }],
  } satisfies Agent;
  const input: AgentDefinitionInput = agent;
  const options: HoldfastWorkerOptions = registry;
  expect(AgentDefinition.parse(input)).toMatchObject({ tools: ["charge", "refund", "read_file"] });
  expect(options.tools?.map(({ name }) => name)).toEqual(["charge", "refund"]);
});

test("the type checker rejects every other name", () => {
  // @ts-expect-error No tool has this name.
  ({ model, tools: ["chrage"] }) satisfies Agent;
  // @ts-expect-error No filter has this name.
  ({ model, inputFilters: ["noCard"] }) satisfies Agent;
  // @ts-expect-error No hook has this name.
  ({ model, hooks: { "before-tool": ["audits"] } }) satisfies Agent;
  // @ts-expect-error No hook has this name.
  ({ model, hooks: { "before-tool": [{ name: "audits" }] } }) satisfies Agent;
  // @ts-expect-error No transform has this name.
  ({ model, transformContext: ["trimmed"] }) satisfies Agent;
  // @ts-expect-error The registry has no converters.
  ({ model, convertToLlm: "plain" }) satisfies Agent;
  // @ts-expect-error No strategy has this name.
  ({ model, context: { compaction: { strategy: "keepOrder" } } }) satisfies Agent;
  // @ts-expect-error A sub-agent is checked, too.
  ({ model, subAgents: [{ name: "payer", agent: { model, tools: ["chrage"] } }] }) satisfies Agent;
  expectTypeOf<RegisteredName<typeof registry, "reducers">>().toEqualTypeOf<"cheapest">();
  expectTypeOf<RegisteredName<typeof registry, "evaluationStrategies">>().toEqualTypeOf<never>();
  expectTypeOf<RegisteredName<typeof registry, "scorers">>().toEqualTypeOf<never>();
  expectTypeOf(define("charge").name).toEqualTypeOf<"charge">();
});
