import fc, { array, constantFrom, integer, option, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import { COMPACTION_KIND } from "../../src/conversation/message-visibility.ts";
import { traceMessages } from "../../src/conversation/provenance.ts";
import { listAncestry } from "../../src/conversation/pruning/branch-ancestry.ts";
import { type LoopTrace, rebuildView } from "../../src/conversation/pruning/past-view.ts";
import type { ViewRange } from "../../src/core/view/view-ranges.ts";
import type { EventBody } from "../../src/schema/loop-event.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin } from "../../src/schema/record.ts";
import { getRunCount } from "../support/test-depth.ts";

const RUNS = getRunCount(2000);
const turnId = { loopId: "s.m.1", turnIndex: 3 };
const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

const user = (text: string): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp: 1,
  turnId,
});
const answer = (...ids: string[]): AgentMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "look", arguments: {} })),
  stopReason: "toolUse",
  model: "m",
  provider: "p",
  usage: NO_USAGE,
  timestamp: 1,
  turnId,
});
const result = (toolCallId: string, text = "found"): AgentMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "look",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
  turnId,
});
const compaction = (sections: number, ranges?: readonly ViewRange[]): AgentMessage => ({
  role: "extension",
  kind: COMPACTION_KIND,
  data: {
    sections: Array.from({ length: sections }, (_, n) => ({ text: `text ${n}` })),
    ...(ranges === undefined ? {} : { ranges }),
  },
  timestamp: 1,
});

function entriesOf(...made: readonly (readonly [EntryOrigin, AgentMessage])[]): Entry[] {
  return made.map(([origin, message], position) => ({ position, origin, message, tokens: 1 }));
}

describe("the origin of a message [PHI-07.2]", () => {
  test.each([
    ["prompt", user("a"), "prompt"],
    ["steering", user("a"), "steering"],
    ["follow-up", user("a"), "follow-up"],
    ["inbox", user("a"), "inbox"],
    ["machine", user("a"), "machine"],
    ["tool", user("a"), "unknown"],
    ["machine", answer(), "turn"],
  ] as const)("is derived from the entry's origin: %s", (origin, message, type) => {
    const [only] = traceMessages(
      { branch: "main", ranges: [{ from: 0, to: 1 }] },
      entriesOf([origin, message]),
    );
    expect(only?.origin).toMatchObject({ type, position: 0, loopId: "s.m.1", turn: 3 });
  });

  test("includes the sender's message id", () => {
    const [entry] = entriesOf(["prompt", user("a")]);
    const entries = [{ ...(entry as Entry), messageId: "m1" }];
    const [only] = traceMessages({ branch: "main", ranges: [{ from: 0, to: 1 }] }, entries);
    expect(only?.origin).toMatchObject({ messageId: "m1" });
  });

  test("names the range that a compaction text replaces, the lines of a truncated result, and no position for a missing result", () => {
    const entries = entriesOf(
      ["prompt", user("go")],
      ["model", answer("a")],
      ["tool", result("a", "1\n2\n3\n4\n5")],
      ["prompt", user("more")],
      ["model", answer("b")],
      ["machine", compaction(2)],
    );
    const ranges: ViewRange[] = [
      { from: 0, to: 1, replacement: { position: 5, section: 1 } },
      { from: 1, to: 3, maxLines: 2 },
      { from: 3, to: 4, replacement: { position: 5, section: 0 } },
      { from: 4, to: 5 },
    ];
    expect(traceMessages({ branch: "main", ranges }, entries).map(({ origin }) => origin)).toMatchObject([
      { type: "compaction", position: 5, section: 1, from: 0, to: 1 },
      { type: "turn", role: "assistant", position: 1 },
      { type: "turn", role: "toolResult", position: 2, maxLines: 2 },
      { type: "compaction", position: 5, section: 0, from: 3, to: 4 },
      { type: "turn", role: "assistant", position: 4 },
      { type: "machine" },
    ]);
    const made = traceMessages({ branch: "main", ranges }, entries);
    expect(made.at(-1)?.origin).not.toHaveProperty("position");
    expect(made[1]?.origin).not.toHaveProperty("maxLines");
  });

  test("covers exactly the messages of any view: entries of their role, compaction texts or missing results [PHI-07.2]", () => {
    const message = record({
      kind: constantFrom("user", "answer", "result", "failed"),
      call: constantFrom("a", "b", "c"),
    });
    const lengths = array(
      record({
        length: integer({ min: 0, max: 4 }),
        cut: option(integer({ min: 0, max: 3 }), { nil: undefined }),
        text: option(constantFrom(0, 1), { nil: undefined }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      property(array(message, { maxLength: 14 }), lengths, (said, parts) => {
        const entries = entriesOf(
          ...said.map(({ kind, call }, n): [EntryOrigin, AgentMessage] => {
            if (kind === "user") return ["prompt", user(`words ${n}`)];
            if (kind === "result") return ["tool", result(call, `1\n2\n3\n4\nresult ${n}`)];
            const made = answer(call, `${call}${n}`);
            return ["model", kind === "failed" ? ({ ...made, stopReason: "error" } as AgentMessage) : made];
          }),
          ["machine", compaction(2)],
        );
        const position = entries.length - 1;
        let from = 0;
        const ranges = parts.map(({ length, cut, text }): ViewRange => {
          const to = Math.min(position, from + length);
          const range = {
            from,
            to,
            ...(text !== undefined
              ? { replacement: { position, section: text } }
              : cut === undefined
                ? {}
                : { maxLines: cut }),
          };
          from = to;
          return range;
        });
        const view = { branch: "main", ranges };
        const made = traceMessages(view, entries);
        expect(made.map(({ message: one }) => one)).toStrictEqual(materialise(view, entries));
        for (const { message: one, origin } of made) {
          if (origin.type === "compaction")
            expect(one).toMatchObject({ content: [{ text: `text ${origin.section}` }] });
          else if ("position" in origin && origin.position !== undefined) {
            expect(entries[origin.position]?.message.role).toBe(one.role);
          } else expect(one).toMatchObject({ role: "toolResult", isError: true });
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the view of a past answer [PHI-07.1]", () => {
  const ended = (to: number): EventBody => ({
    type: "AgentEnd",
    from: 0,
    to,
    usage: NO_USAGE,
    outcome: { type: "answered", stopReason: "stop" },
  });
  const compactedAt = (position: number): EventBody => ({
    type: "CompactionEnded",
    position,
    messagesBefore: 2,
    messagesAfter: 1,
    estimatedTokensBefore: 2,
    estimatedTokensAfter: 1,
    loopsCompacted: 1,
  });
  const left: ViewRange[] = [{ from: 0, to: 2, maxLines: 4 }];
  const loop = (from: number, events: EventBody[], more: Partial<LoopTrace> = {}): LoopTrace => ({
    branches: ["main"],
    from,
    events,
    compactions: events.some(({ type }) => type === "CompactionEnded") ? [left] : [],
    isFirstOfRun: false,
    readsEarlierPrunes: false,
    ...more,
  });
  const started = (position: number): EventBody => ({ type: "MessageStart", position });
  const first = loop(0, [started(0), started(1), compactedAt(2), started(3), ended(4)], {
    isFirstOfRun: true,
  });
  const whole = (to: number) => ({ type: "view", view: { branch: "main", ranges: [{ from: 0, to }] } });
  const smaller = (to: number) => ({
    type: "view",
    view: { branch: "main", ranges: [...left, { from: 3, to }] },
  });

  const branches = [{ id: "main" }, { id: "fork", parent: { branch: "main", position: 4 } }];
  const seenBy = (loops: LoopTrace[], position: number) =>
    rebuildView(loops, branches, { branch: loops.at(-1)?.branches.at(-1) ?? "", position });

  test("has everything before the answer when nothing was compacted", () => {
    expect(seenBy([first], 1)).toEqual(whole(1));
    expect(seenBy([first], 0)).toEqual({ type: "view", view: { branch: "main", ranges: [] } });
  });

  test("has what the newest compaction left, and everything since", () => {
    expect(seenBy([first], 3)).toEqual({ type: "view", view: { branch: "main", ranges: left } });
    expect(seenBy([loop(0, [compactedAt(2)], { isFirstOfRun: true })], 4)).toEqual(smaller(4));
  });

  test("inherits the compaction of the preceding loop in the same run", () => {
    expect(seenBy([first, loop(4, [])], 5)).toEqual(smaller(5));
  });

  test("inherits a compaction across runs, and on a new branch that begins at the end of the loop", () => {
    expect(seenBy([first, loop(4, [], { isFirstOfRun: true })], 5)).toEqual(smaller(5));
    const forked = seenBy([first, loop(4, [], { branches: ["fork"] })], 5);
    expect(forked).toEqual({
      type: "view",
      view: { branch: "fork", ranges: [...left, { from: 3, to: 5 }] },
    });
  });

  test("inherits no compaction from a loop that ends after the new loop's start, or that has not ended", () => {
    expect(seenBy([first, loop(3, [])], 5)).toEqual(whole(5));
    const open = loop(0, [compactedAt(2)], { isFirstOfRun: true });
    expect(seenBy([open, loop(4, [])], 5)).toEqual(whole(5));
  });

  test("has what the model pruned marked as pruned from the next answer on", () => {
    const memo = { position: 3, call: 0, tokens: 1 };
    const pruned: EventBody = {
      type: "PrunApplied",
      pruned: [{ from: 1, to: 3 }],
      tokensRemoved: 1,
      messagesRemoved: 1,
      memo,
    };
    const told = loop(0, [
      { type: "MessageStart", position: 3 },
      pruned,
      { type: "MessageStart", position: 5 },
    ]);
    expect(seenBy([told], 3)).toEqual(whole(3));
    expect(seenBy([told], 5)).toEqual({
      type: "view",
      view: {
        branch: "main",
        ranges: [
          { from: 0, to: 1 },
          { from: 1, to: 3, isPruned: true, memos: [memo] },
          { from: 3, to: 5 },
        ],
      },
    });
  });

  test("has messages that a revert abandoned for answers on that branch, but not for later answers", () => {
    const back: EventBody = {
      type: "RevertApplied",
      category: "completion",
      target: 2,
      abandoned: { from: 3, to: 6 },
      applied: true,
    };
    const told = loop(0, [started(1), started(3), started(5), back, started(4)], {
      branches: ["main", "back"],
    });
    const all = [...branches, { id: "back", parent: { branch: "main", position: 3 } }];
    const at = (branch: string, position: number) => rebuildView([told], all, { branch, position });
    expect(at("main", 5)).toEqual(whole(5));
    expect(at("back", 4)).toEqual({ type: "view", view: { branch: "back", ranges: [{ from: 0, to: 4 }] } });
    expect(at("back", 1)).toEqual({ type: "view", view: { branch: "back", ranges: [{ from: 0, to: 1 }] } });
  });

  test("has everything when the loop has no event of a compaction", () => {
    expect(seenBy([loop(0, [], { isFirstOfRun: true })], 3)).toEqual(whole(3));
  });

  test("is unrecorded when a compaction has no ranges, and names that compaction", () => {
    const trace = loop(0, [compactedAt(1)], { isFirstOfRun: true, compactions: [undefined] });
    expect(seenBy([trace], 2)).toEqual({ type: "unrecorded", position: 1 });
  });
});

describe("the ancestry of a branch", () => {
  test("limits each ancestor to the lowest position where a descendant leaves it", () => {
    const branches = [
      { id: "main" },
      { id: "late", parent: { branch: "main", position: 10 } },
      { id: "early", parent: { branch: "late", position: 3 } },
    ];
    expect(listAncestry(branches, "early")).toEqual([
      { id: "early", until: Number.POSITIVE_INFINITY },
      { id: "late", until: 3 },
      { id: "main", until: 3 },
    ]);
  });
});
