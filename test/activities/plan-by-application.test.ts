import { describe, expect, test } from "vitest";
import { askCustomCompaction } from "../../src/activities/compact/custom-compaction.ts";
import { TextModel } from "../../src/activities/model/text-model.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import type { CompactionStrategy } from "../../src/hooks/compaction-strategy.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { Entry } from "../../src/schema/record.ts";
import { answer, entriesOf, result, texts, user } from "../core/compaction-messages.ts";

// What an application may want from its own compaction: the uses that the sources name.

const TALK = entriesOf([
  user("compare the offers"),
  answer("reading", ["a"]),
  result("a", "Offer A costs 40. IMPORTANT: valid until May."),
  answer("reading on", ["b"]),
  result("b", "Offer B costs 50."),
  user("and now?"),
]);

const wordsOf = ({ message }: Entry) => texts([message])[0] ?? "";

async function planned(strategy: CompactionStrategy) {
  const dependencies = {
    providers: ProviderRegistry.createDefault(),
    secrets: () => undefined,
    outages: new Outages(),
  };
  const { sections, rejected } = await askCustomCompaction(
    "own",
    TALK,
    { budget: 10_000, maxTextTokens: 200, reason: "size", focus: undefined },
    new TextModel(AgentDefinition.parse({ model: anthropic("some-model") }), dependencies),
    { compactions: new NamedRegistry("compaction strategy", { own: strategy }) },
    new AbortController().signal,
  );
  expect(rejected).toBeUndefined();
  return sections.map(({ from, to, form }) => ({ from, to, form }));
}

describe("a strategy of the application, by its use", () => {
  test("stores the messages in its own memory before they leave the model's view [CTX-16.1, CTX-16.3]", async () => {
    const memory: string[] = [];
    await planned(async ({ entries }) => {
      const leaving = entries.slice(0, 5);
      await Promise.resolve();
      memory.push(...leaving.map(wordsOf));
      return [
        { from: 0, to: 5, form: { summary: "Ask `recall` for the offers." } },
        { from: 5, to: 6, form: "whole" },
      ];
    });
    expect(memory).toEqual([
      "compare the offers",
      "reading",
      "Offer A costs 40. IMPORTANT: valid until May.",
      "reading on",
      "Offer B costs 50.",
    ]);
  });

  test("inserts a marker where messages are left out, after the first ones that stay [CTX-16.1, CTX-16.3]", async () => {
    expect(
      await planned(({ entries }) => [
        { from: 0, to: 1, form: "whole" },
        { from: 1, to: 5, form: { summary: `${entries.length - 2} earlier messages were compacted` } },
        { from: 5, to: 6, form: "whole" },
      ]),
    ).toEqual([
      { from: 0, to: 1, form: "whole" },
      { from: 1, to: 5, form: { summary: "4 earlier messages were compacted" } },
      { from: 5, to: 6, form: "whole" },
    ]);
  });

  test("never leaves out messages that contain an important word, and keeps calls with their results [CTX-16.1, CTX-16.3]", async () => {
    const keep: CompactionStrategy = ({ entries }) => {
      const turns = entries.flatMap((entry, at) =>
        entry.message.role === "toolResult"
          ? []
          : [{ from: entry.position, own: [entry, ...resultsBehind(at)] }],
      );
      return turns.map(({ from, own }) => ({
        from,
        to: from + own.length,
        form: own.some((entry) => wordsOf(entry).includes("IMPORTANT"))
          ? ("whole" as const)
          : { summary: "(left out)" },
      }));

      function resultsBehind(at: number): readonly Entry[] {
        const next = entries[at + 1];
        return next?.message.role === "toolResult" ? [next, ...resultsBehind(at + 1)] : [];
      }
    };
    expect(await planned(keep)).toEqual([
      { from: 0, to: 1, form: { summary: "(left out)", userTextFrom: 0 } },
      { from: 1, to: 3, form: "whole" },
      { from: 3, to: 5, form: { summary: "(left out)" } },
      { from: 5, to: 6, form: { summary: "(left out)", userTextFrom: 5 } },
    ]);
  });
});
