import { expect, test } from "vitest";
import { readSpent } from "../../src/activities/job/inspect-child.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { EventBody } from "../../src/schema/loop-event.ts";
import type { LoopRecord } from "../../src/store/transcript/loop.ts";

const model = (id: string, input: number) => ({
  id,
  api: "custom_fake" as const,
  provider: "fake",
  baseUrl: "http://localhost:1",
  contextWindow: 1000,
  cost: { input },
});
const definitions: Readonly<Record<string, AgentDefinition>> = {
  first: AgentDefinition.parse({ model: model("own", 1), fallbacks: [model("spare", 100)] }),
  moved: AgentDefinition.parse({ model: model("other", 10_000) }),
};
const usage = { input: 1e6, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1e6 };
const turn = (number: number, ...between: EventBody[]): EventBody[] => [
  { type: "TurnStart", turn: number, trigger: "user" },
  ...between,
  { type: "TurnEnd", turn: number, position: 0, results: 0, usage },
];
const fellBack = (number: number, more: object = {}): EventBody => ({
  type: "ModelFallback",
  turn: number,
  to: { provider: "fake", model: "spare" },
  from: [],
  ...more,
});

test("in a loop that was cut off, each turn costs the price of the model that answered it [PROV-28]", async () => {
  const moved = { from: "first", to: "moved", changes: [], warnings: [] };
  const bodies: EventBody[] = [
    ...turn(0),
    ...turn(1, fellBack(1)),
    ...turn(2, fellBack(2, { for: "compaction" })),
    { type: "DefinitionChanged", applied: false, ...moved },
    ...turn(3),
    { type: "DefinitionChanged", applied: true, ...moved },
    ...turn(4),
  ];
  const transcript = {
    readDefinition: async (hash: string) => definitions[hash],
    readEvents: async () => bodies.map((body, sequence) => ({ loopId: "l", sequence, atMs: 0, body })),
  };
  const loop = { loopId: "l", definitionHash: "first" } as LoopRecord;
  expect(await readSpent(loop, transcript as never)).toEqual({
    turns: 5,
    tokens: 5e6,
    costUsd: 1 + 100 + 1 + 1 + 10_000,
  });
});
