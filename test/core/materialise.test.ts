import { describe, expect, test } from "vitest";
import { materialise, materialiseAll } from "../../src/conversation/materialise.ts";
import { COMPACTION_KIND, isForUsersOnly } from "../../src/conversation/message-visibility.ts";
import { UNANSWERED_CALL } from "../../src/conversation/orphans.ts";
import { REJECTED_KIND } from "../../src/core/machine/rejected-message.ts";
import { formatTag } from "../../src/core/view/tag.ts";
import type { ViewRange } from "../../src/core/view/view-ranges.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { answer, entriesOf, extension, lines, result, texts, user } from "./compaction-messages.ts";

// What a model, or an application, sees of a view.

const compaction = (...sections: readonly string[]): AgentMessage => ({
  role: "extension",
  kind: COMPACTION_KIND,
  data: { sections: sections.map((text) => ({ text })) },
  timestamp: 99,
});
const refused: AgentMessage = { role: "extension", kind: REJECTED_KIND, data: { text: "x" }, timestamp: 0 };
const remembering = (memo: string): AgentMessage => ({
  ...answer("", ["m"], 70),
  content: [{ type: "toolCall", id: "m", name: "prun_with_memo", arguments: { memo } }],
});
const of = (...ranges: readonly ViewRange[]) => ({ branch: "main", ranges });
const whole = (entries: readonly Entry[]) => of({ from: 0, to: entries.length });

describe("a range", () => {
  const entries = entriesOf([
    user("a", 1),
    answer("", ["x"], 2),
    result("x", lines(9), 3),
    user("b", 4),
    compaction("first", "second"),
  ]);

  test("has its entries from its start up to but excluding its end, wherever the list begins", () => {
    expect(texts(materialise(of({ from: 3, to: 4 }), entries))).toEqual(["b"]);
    const later = entriesOf([user("c"), user("d"), user("e")], 7);
    expect(texts(materialise(of({ from: 0, to: 8 }), later))).toEqual(["c"]);
    expect(texts(materialise(of({ from: 8, to: 20 }), later))).toEqual(["d", "e"]);
    expect(materialise(of({ from: 10, to: 20 }), later)).toEqual([]);
  });

  test("with truncated outputs shows their beginning and end", () => {
    const seen = materialise(of({ from: 0, to: 4, maxLines: 2 }), entries);
    expect(texts(seen)[2]).toBe("line 1\n\n[... 7 lines truncated ...]\n\nline 9");
    expect(seen[0]).toBe(entries[0]?.message);
  });

  test("with a replacement is that text, with the timestamp of the last message that it covers", () => {
    const instead = { position: 4, section: 1 };
    expect(materialise(of({ from: 0, to: 3, replacement: instead }, { from: 3, to: 4 }), entries)).toEqual([
      user("second", 3),
      user("b", 4),
    ]);
    expect(materialise(of({ from: 20, to: 30, replacement: instead }), entries)).toEqual([user("second", 0)]);
  });

  test("with a replacement on another branch reads it from that branch", () => {
    const elsewhere = (branch: string, position: number) =>
      branch === "b" && position === 12 ? compaction("from b") : undefined;
    const range = { from: 0, to: 3, replacement: { branch: "b", position: 12, section: 0 } };
    expect(texts(materialise(of(range), entries, { readMessage: elsewhere }))).toEqual(["from b"]);
  });

  test.each([
    ["has no such section", { position: 4, section: 2 }],
    ["is not a compaction", { position: 3, section: 0 }],
    ["is missing", { position: 9, section: 0 }],
    ["is on another branch, with no reader for it", { branch: "b", position: 4, section: 0 }],
  ])("throws when its replacement cannot be found: the entry %s", (_, instead) => {
    const { position, section } = instead;
    expect(() => materialise(of({ from: 0, to: 3, replacement: instead }), entries)).toThrow(
      `Entry ${position} holds no section ${section} of a compaction`,
    );
  });

  test("throws when its replacement is an application's message or a compaction without sections", () => {
    const instead = { position: 1, section: 0 };
    const other = { ...compaction("x"), kind: "note" } as AgentMessage;
    const empty = { ...compaction(), data: {} } as AgentMessage;
    for (const message of [other, empty]) {
      const given = entriesOf([user("a"), message]);
      expect(() => materialise(of({ from: 0, to: 1, replacement: instead }), given)).toThrow(
        "holds no section 0",
      );
    }
  });

  test("that was pruned shows its memos, then only the user's messages", () => {
    const given = [...entries.slice(0, 4), ...entriesOf([remembering("the key"), result("m", "ok", 8)], 4)];
    const memos = [{ position: 4, call: 0, tokens: 5 }];
    const seen = materialise(of({ from: 0, to: 4, isPruned: true, memos }), given);
    expect(texts(seen)).toEqual(["[Memo on what was pruned here] the key", "a", "b"]);
    expect(seen[0]).toMatchObject({ role: "user", timestamp: 4 });
  });

  test("with a memo and a replacement shows both, the memo first", () => {
    const given = [...entries, ...entriesOf([remembering("the key"), result("m", "ok")], 5)];
    const memos = [{ position: 5, call: 0, tokens: 5 }];
    const range = { from: 0, to: 3, replacement: { position: 4, section: 0 }, memos };
    expect(texts(materialise(of(range), given))).toEqual(["[Memo on what was pruned here] the key", "first"]);
  });
});

describe("tags left by reverts", () => {
  const tagEntry = (position: number): Entry => ({
    position,
    origin: "machine",
    message: user(formatTag("failure", 0, "a lesson")),
    tokens: 1,
  });
  const entries = [...entriesOf([user("a")]), tagEntry(1), tagEntry(2)];

  test("are shown until they have faded", () => {
    expect(materialise({ ...whole(entries), fadedBefore: { failure: 2 } }, entries)).toHaveLength(2);
    expect(materialise({ ...whole(entries), fadedBefore: { tangent: 9 } }, entries)).toHaveLength(3);
  });

  test("have no label that the model can refer to; the messages around them have one", () => {
    const said = texts(materialise(whole(entries), entries, { labels: true }));
    expect(said[0]).toContain("n0 is this message");
    expect(said[1]).not.toContain("is this message");
  });
});

describe("visibility", () => {
  const filtered = { ...answer("no"), stopReason: "guardRail" as const };
  const entries = entriesOf([user("a"), extension("own"), refused, compaction("x"), filtered, answer("yes")]);

  test("a model sees no extension, and no answer that a vendor would reject [TYP-11.3, X-09.4]", () => {
    expect(texts(materialise(whole(entries), entries))).toEqual(["a", "yes"]);
    expect(materialise(whole(entries), entries, { labels: false })).toHaveLength(2);
  });

  test("an application also sees its own messages, with labels on request [TYP-11.2]", () => {
    const seen = materialiseAll(whole(entries), entries);
    expect(seen).toEqual([entries[0]?.message, entries[1]?.message, entries[5]?.message]);
    expect(materialiseAll(whole(entries), entries, { labels: false })).toEqual(seen);
    const named = materialiseAll(whole(entries), entries, { labels: true });
    expect(texts(named)[0]).toContain("[n0 is this message]");
    expect(named.slice(1)).toEqual(seen.slice(1));
  });

  test("messages for users only are extensions of the machine's own kinds", () => {
    expect([user("a"), extension("own"), refused, compaction("x")].map(isForUsersOnly)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("calls without a result [TOOL-08.3]", () => {
  const unanswered = (toolCallId: string, timestamp: number) => ({
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text: UNANSWERED_CALL }],
    isError: true,
    timestamp,
  });

  test("at the end get one error result each, with the timestamp of the last message", () => {
    const entries = entriesOf([user("a", 1), answer("", ["x", "y"], 2), result("x", "ok", 3)]);
    const seen = materialise(whole(entries), entries);
    expect(seen.slice(2)).toEqual([result("x", "ok", 3), unanswered("y", 3)]);
    expect(UNANSWERED_CALL).toContain("Check what the call has done before you repeat it");
  });

  test("in the middle get one before the next message, and not again at the end", () => {
    const entries = entriesOf([
      answer("", ["x"], 2),
      user("a", 5),
      answer("", ["z"], 6),
      answer("end", [], 7),
    ]);
    expect(materialise(whole(entries), entries)).toEqual([
      entries[0]?.message,
      unanswered("x", 5),
      entries[1]?.message,
      entries[2]?.message,
      unanswered("z", 7),
      entries[3]?.message,
    ]);
  });

  test("do not include a call that an application's message separates from its result", () => {
    const entries = entriesOf([answer("", ["x"], 2), extension("own"), result("x", "ok", 3)]);
    expect(materialiseAll(whole(entries), entries)).toEqual(entries.map(({ message }) => message));
  });

  test("a second result, and one without a call, are omitted", () => {
    const entries = entriesOf([
      answer("", ["x"], 2),
      result("x", "ok"),
      result("x", "again"),
      result("y", "who?"),
    ]);
    expect(texts(materialise(whole(entries), entries))).toEqual(["", "ok"]);
  });
});
