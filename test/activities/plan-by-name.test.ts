import pino from "pino";
import { expect, test } from "vitest";
import { planCompaction } from "../../src/activities/compact/plan-compaction.ts";
import { local } from "../../src/config/vendor-models.ts";
import type { CompactionStrategy } from "../../src/hooks/compaction-strategy.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { answer, entriesOf, inTurn, result, user } from "../core/compaction-messages.ts";

// Which strategy plans a compaction: the block strategy, or the one that the definition names.

const TALK = entriesOf(
  Array.from({ length: 8 }, (_, turn) => [
    inTurn(user(`question ${turn}`), "L.1", turn),
    inTurn(answer(`answer ${turn}`, [`c${turn}`]), "L.1", turn),
    inTurn(result(`c${turn}`, "x".repeat(600)), "L.1", turn),
  ]).flat(),
);

/** The texts that replace messages of `TALK`, in which a turn is a line. */
async function planTexts(compaction: object): Promise<string> {
  const definition = AgentDefinition.parse({
    model: local("http://127.0.0.1:1", "m"),
    context: { maxContextTokens: 700, systemPromptTokens: 0, keepRecent: 2, compaction },
  });
  const view = { branch: "main", ranges: [{ from: 0, to: TALK.length }] };
  const { sections, rejected } = await planCompaction(
    TALK,
    definition,
    { reason: { type: "size" }, view, contextTokens: 1000, viewTokens: 1000 },
    {
      providers: new ProviderRegistry(),
      secrets: () => undefined,
      outages: new Outages(),
      compactions: new NamedRegistry<CompactionStrategy>("compaction strategy", {}, ["block", "tiered"]),
      tools: new ToolRegistry(),
      log: pino({ enabled: false }),
    },
    new AbortController().signal,
  );
  expect(rejected).toBeUndefined();
  return sections
    .flatMap(({ form }) => (typeof form === "object" && "summary" in form ? [form.summary] : []))
    .join("\n");
}

const KEPT = { keepFirstTurns: 1, keepRecentTurns: 1 };

test("the block strategy summarises turns by default, and by its name [CTX-10.1]", async () => {
  const byDefault = await planTexts(KEPT);
  expect(byDefault).toContain("[Summary] User: question 3 Assistant: answer 3");
  expect(await planTexts({ ...KEPT, strategy: "block" })).toBe(byDefault);
});

test("the tiered strategy summarises answers, by its name [CTX-10.2]", async () => {
  const tiered = await planTexts({ ...KEPT, strategy: "tiered" });
  expect(tiered).toContain("[Summary] answer 3");
  expect(tiered).not.toContain("User: question 3");
});
