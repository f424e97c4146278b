import pino from "pino";
import { describe, expect, test } from "vitest";
import { compactEntries } from "../../src/activities/compact/compact-entries.ts";
import { local } from "../../src/config/vendor-models.ts";
import { buildCompactionBlocks } from "../../src/conversation/compaction-blocks.ts";
import type { CompactionStrategy } from "../../src/hooks/compaction-strategy.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { CompactionBlock } from "../../src/schema/recorded-session.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { entriesOf, extension, lines, loop, texts, totalOf, user } from "../core/compaction-messages.ts";

const AT = "2026-11-24T10:00:00.000Z";

/** Compacts a conversation as a worker does, and returns its entries with the one of the compaction. */
async function compact(messages: readonly AgentMessage[], settings: object): Promise<readonly Entry[]> {
  const entries = entriesOf(messages);
  const definition = AgentDefinition.parse({
    model: local("http://127.0.0.1:9", "m"),
    context: {
      maxContextTokens: totalOf(messages),
      systemPromptTokens: 0,
      compaction: { compactAtPct: 0.9, ...settings },
    },
  });
  const end = entries.length;
  const { entry } = await compactEntries(
    entries,
    definition,
    {
      view: { branch: "main", ranges: [{ from: 0, to: end }] },
      position: end,
      contextTokens: totalOf(messages),
      reason: { type: "request" },
    },
    0,
    {
      providers: ProviderRegistry.createDefault(),
      secrets: () => undefined,
      outages: new Outages(),
      compactions: new NamedRegistry<CompactionStrategy>("compaction strategy", {}, ["block"]),
      tools: new ToolRegistry(),
      log: pino({ enabled: false }),
    },
    new AbortController().signal,
  );
  return entry === undefined ? entries : [...entries, { ...entry, tokens: 0 }];
}

const blocksOf = (entries: readonly Entry[]) => buildCompactionBlocks(entries, entries.at(-1)!.position, AT);

describe("the compaction blocks of a record", () => {
  const conversation = [...loop("L.1", 3), ...loop("L.2", 6, lines(80))];

  test("are the first turns, texts for the middle and the last turns of the newest loop, and a text for an older loop [CMP-01.1, CMP-03.1-4, PER-03]", async () => {
    const entries = await compact(conversation, {
      keepFirstTurns: 1,
      keepRecentTurns: 2,
      toolOutputMaxLines: 10,
    });
    const blocks = blocksOf(entries);
    expect([...blocks.keys()]).toEqual(["L.1", "L.2"]);
    for (const block of blocks.values()) expect(CompactionBlock.parse(block)).toEqual(block);

    const { keepCompacted: whole, ...older } = blocks.get("L.1")!;
    expect(older).toEqual({ createdAt: AT });
    expect(whole?.range).toEqual({ startTurn: 0, endTurn: 2 });
    expect(texts(whole?.messages ?? [])).toEqual([
      "[Summary] User: prompt of L.1 Assistant: turn 0\n[Summary] Assistant: turn 1\n[Summary] Assistant: turn 2",
    ]);

    const { keepFirst, keepCompacted, keepRecent } = blocks.get("L.2")!;
    expect(keepFirst).toEqual({ startTurn: 0, endTurn: 0 });
    expect(keepCompacted?.range).toEqual({ startTurn: 1, endTurn: 3 });
    expect(texts(keepCompacted?.messages ?? [])).toEqual([
      "[Summary] Assistant: turn 1\n[Summary] Assistant: turn 2\n[Summary] Assistant: turn 3",
    ]);
    expect(keepRecent?.range).toEqual({ startTurn: 4, endTurn: 5 });
    const [said, output, lastSaid, lastOutput] = keepRecent?.messages ?? [];
    expect([said, output, lastSaid, lastOutput].map((message) => message?.role)).toEqual([
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
    ]);
    expect(texts([said!, lastSaid!])).toEqual(["turn 4", "turn 5"]);
    const [read = "", unread] = texts([output!, lastOutput!]);
    expect(read.split("\n")).toEqual([
      ...["line 1", "line 2", "line 3", "line 4", "line 5"],
      ...["", "[... 70 lines truncated ...]", ""],
      ...["line 76", "line 77", "line 78", "line 79", "line 80"],
    ]);
    // No answer has read the last result: it stays whole.
    expect(unread).toBe(lines(80));
  });

  test("leave the messages of the record unchanged [CMP-01.2]", async () => {
    const entries = await compact(conversation, { keepFirstTurns: 1, keepRecentTurns: 2 });
    expect(entries.slice(0, -1).map(({ message }) => message)).toEqual(conversation);
  });

  test("of a loop without first turns have none, and an application's messages are no turns", async () => {
    const noted = conversation.flatMap((message) => [message, extension("a note")]);
    const entries = await compact(noted, { keepFirstTurns: 0, keepRecentTurns: 1 });
    const block = blocksOf(entries).get("L.2")!;
    expect(block.keepFirst).toBeUndefined();
    expect(block.keepCompacted?.range).toEqual({ startTurn: 0, endTurn: 4 });
    expect(block.keepRecent?.range).toEqual({ startTurn: 5, endTurn: 5 });
  });

  test("exist only for loops of which something was omitted, and only at the entry of a compaction", async () => {
    const entries = await compact(conversation, { keepFirstTurns: 1, keepRecentTurns: 2 });
    const compaction = entries.at(-1)!;
    const after = entriesOf(loop("L.3", 1), entries.length);
    expect([...buildCompactionBlocks([...entries, ...after], compaction.position, AT).keys()]).toEqual([
      "L.1",
      "L.2",
    ]);
    expect(buildCompactionBlocks(entries, 0, AT).size).toBe(0);
    expect(buildCompactionBlocks(entries, 99, AT).size).toBe(0);
    const note = entriesOf([user("hi"), extension({ sections: [{ from: 0, to: 1, text: "x" }] })]);
    expect(buildCompactionBlocks(note, 1, AT).size).toBe(0);
  });
});
