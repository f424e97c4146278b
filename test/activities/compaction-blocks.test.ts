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
import {
  answer,
  entriesOf,
  extension,
  inTurn,
  lines,
  loop,
  texts,
  totalOf,
  user,
} from "../core/compaction-messages.ts";

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
    const noted = [extension("begins"), ...conversation.flatMap((message) => [message, extension("a note")])];
    const entries = await compact(noted, { keepFirstTurns: 0, keepRecentTurns: 1 });
    const block = blocksOf(entries).get("L.2")!;
    expect(block.keepFirst).toBeUndefined();
    expect(block.keepCompacted?.range).toEqual({ startTurn: 0, endTurn: 4 });
    expect(block.keepRecent?.range).toEqual({ startTurn: 5, endTurn: 5 });
    expect(block.keepRecent?.messages.map(({ role }) => role)).toEqual(["assistant", "toolResult"]);
    expect(blocksOf(entries).get("L.1")?.keepCompacted?.range).toEqual({ startTurn: 0, endTurn: 2 });
  });

  test("show the user messages that the running loop answers after the text for its middle", async () => {
    const entries = await compact(conversation, { keepFirstTurns: 0, keepRecentTurns: 1 });
    const { keepCompacted } = blocksOf(entries).get("L.2")!;
    const [summary, ...prompts] = texts(keepCompacted?.messages ?? []);
    expect(summary).toContain("[Summary]");
    expect(prompts).toEqual(["prompt of L.2"]);
  });

  test("exist only at the entry of a compaction", async () => {
    const entries = await compact(conversation, { keepFirstTurns: 1, keepRecentTurns: 2 });
    expect(buildCompactionBlocks(entries, 0, AT).size).toBe(0);
    expect(buildCompactionBlocks(entries, 99, AT).size).toBe(0);
    const note = extension({ sections: [{ from: 0, to: 3, text: "x" }] });
    expect(blocksOf(entriesOf([...loop("L.1", 1), note])).size).toBe(0);
  });
});

describe("the compaction block of a loop", () => {
  const NONE = { reason: "request", sections: [], ranges: [] };
  const replaced = (from: number, to: number, rest: object = {}) => ({
    ...{ from, to, replacement: { position: 99, section: 0 } },
    ...rest,
  });
  /** The blocks of a compaction that has recorded this. */
  const recorded = (messages: readonly AgentMessage[], data: object) => {
    const compaction = { role: "extension" as const, kind: "compaction", data, timestamp: 0 };
    return blocksOf(entriesOf([...messages, compaction]));
  };
  const compacted = (blocks: ReadonlyMap<string, CompactionBlock>, loopId: string) => {
    const { range, messages = [] } = blocks.get(loopId)?.keepCompacted ?? {};
    return { range, texts: texts(messages) };
  };

  test("exists only when something of the loop was omitted", () => {
    const messages = [...loop("L.1", 1), ...loop("L.2", 1)];
    const sections = [{ from: 0, to: 3, text: "one" }];
    const blocks = recorded(messages, { sections, ranges: [replaced(0, 3), { from: 3, to: 6 }] });
    expect([...blocks.keys()]).toEqual(["L.1"]);
    expect(recorded(messages, NONE).size).toBe(0);
  });

  test("exists only when its turns are named", () => {
    const sections = [{ from: 0, to: 2, text: "before" }];
    const data = { sections, ranges: [replaced(0, 2)] };
    expect(recorded([user("hi"), answer("yes")], data).size).toBe(0);
    const blocks = recorded([user("hi"), answer("yes"), ...loop("L.1", 1)], data);
    expect([...blocks.keys()]).toEqual(["L.1"]);
    // The entries without a turn are turns of the loop that follows them.
    expect(compacted(blocks, "L.1")).toEqual({ range: { startTurn: 0, endTurn: 1 }, texts: ["before"] });
  });

  test("names each turn of which a part was omitted, and that turn as shown for its other part", () => {
    // The second turn begins with a message that is omitted without its answer.
    const asked = [inTurn(user("and now?"), "L.1", 1), inTurn(answer("then"), "L.1", 1)];
    const blocks = recorded([...loop("L.1", 1), ...asked], {
      sections: [{ from: 3, to: 4, text: "a question" }],
      ranges: [{ from: 0, to: 3 }, replaced(3, 4), { from: 4, to: 5 }],
    });
    const { keepFirst, keepCompacted, keepRecent } = blocks.get("L.1")!;
    expect(keepFirst).toEqual({ startTurn: 0, endTurn: 0 });
    expect(keepCompacted?.range).toEqual({ startTurn: 1, endTurn: 1 });
    expect(keepRecent?.range).toEqual({ startTurn: 1, endTurn: 1 });
    expect(texts(keepRecent?.messages ?? [])).toEqual(["then"]);
  });

  test("has the texts of all its sections, and everything shown after the first of them as recent", () => {
    const blocks = recorded(loop("L.1", 4), {
      sections: [
        { from: 0, to: 3, text: "one" },
        { from: 5, to: 7, text: "three" },
      ],
      ranges: [replaced(0, 3), { from: 3, to: 5 }, replaced(5, 7), { from: 7, to: 9 }],
    });
    expect(blocks.get("L.1")).not.toHaveProperty("keepFirst");
    expect(compacted(blocks, "L.1")).toEqual({
      range: { startTurn: 0, endTurn: 2 },
      texts: ["one", "three"],
    });
    const { range, messages = [] } = blocks.get("L.1")?.keepRecent ?? {};
    expect(range).toEqual({ startTurn: 1, endTurn: 3 });
    expect(texts(messages)).toEqual(["turn 1", "out", "turn 3", "out"]);
  });

  test("has the user messages from where they follow a text, in the form of its range", () => {
    const said = (text: string) => inTurn(user(text), "L.1", 0);
    const nudge = { position: 3, origin: "machine" as const, message: said("a nudge"), tokens: 0 };
    const messages = [
      said("early"),
      said("asked"),
      said("x".repeat(2000)),
      said("a nudge"),
      ...loop("L.1", 1),
    ];
    const ranges = [replaced(0, 7, { userTextFrom: 1, maxUserChars: 320 })];
    const data = { sections: [{ from: 0, to: 7, text: "all" }], ranges };
    const compaction = { role: "extension" as const, kind: "compaction", data, timestamp: 0 };
    const entries = entriesOf([...messages, compaction]).map((entry) =>
      entry.position === 3 ? nudge : entry,
    );
    const [text, asked, cut = "", prompt, ...rest] = compacted(blocksOf(entries), "L.1").texts;
    expect([text, asked, prompt]).toEqual(["all", "asked", "prompt of L.1"]);
    expect(cut).toMatch(/^x+\s+\[\.\.\. \d+ characters omitted/);
    expect(rest).toEqual([]);
  });

  test("has its texts alone in a record that does not say what was shown", () => {
    const sections = [{ from: 0, to: 3, text: "one" }];
    expect(recorded(loop("L.1", 2), { sections }).get("L.1")).toEqual({
      keepCompacted: { range: { startTurn: 0, endTurn: 0 }, messages: [expect.anything()] },
      createdAt: AT,
    });
  });
});
