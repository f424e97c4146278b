import fc, { array, constantFrom, integer, option, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { materialise } from "../../src/core/materialise.ts";
import { type LoopTrace, pastView } from "../../src/core/past-view.ts";
import { sourced } from "../../src/core/provenance.ts";
import { COMPACTION_KIND } from "../../src/core/seen-messages.ts";
import type { Range } from "../../src/core/view-ranges.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin, EventBody } from "../../src/schema/record.ts";

const RUNS = Number(process.env["FC_RUNS"] ?? 2000);
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
const compaction = (sections: number, ranges?: readonly Range[]): AgentMessage => ({
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

describe("where a message comes from [PHI-07]", () => {
  test.each([
    ["prompt", user("a"), "prompt"],
    ["steering", user("a"), "steering"],
    ["follow-up", user("a"), "follow-up"],
    ["inbox", user("a"), "inbox"],
    ["machine", user("a"), "machine"],
    ["tool", user("a"), "unknown"],
    ["machine", answer(), "turn"],
  ] as const)("an entry of origin %s", (origin, message, type) => {
    const [only] = sourced({ branch: "main", ranges: [{ from: 0, to: 1 }] }, entriesOf([origin, message]));
    expect(only?.origin).toMatchObject({ type, position: 0, loopId: "s.m.1", turn: 3 });
  });

  test("the sender's id comes along", () => {
    const [entry] = entriesOf(["prompt", user("a")]);
    const entries = [{ ...(entry as Entry), messageId: "m1" }];
    const [only] = sourced({ branch: "main", ranges: [{ from: 0, to: 1 }] }, entries);
    expect(only?.origin).toMatchObject({ messageId: "m1" });
  });

  test("texts of compactions name what they stand for, cut results their lines, missing results nothing", () => {
    const entries = entriesOf(
      ["prompt", user("go")],
      ["model", answer("a")],
      ["tool", result("a", "1\n2\n3\n4\n5")],
      ["prompt", user("more")],
      ["model", answer("b")],
      ["machine", compaction(2)],
    );
    const ranges: Range[] = [
      { from: 0, to: 1, instead: { position: 5, section: 1 } },
      { from: 1, to: 3, cut: 2 },
      { from: 3, to: 4, instead: { position: 5, section: 0 } },
      { from: 4, to: 5 },
    ];
    expect(sourced({ branch: "main", ranges }, entries).map(({ origin }) => origin)).toMatchObject([
      { type: "compaction", position: 5, section: 1, from: 0, to: 1 },
      { type: "turn", role: "assistant", position: 1 },
      { type: "turn", role: "toolResult", position: 2, cut: 2 },
      { type: "compaction", position: 5, section: 0, from: 3, to: 4 },
      { type: "turn", role: "assistant", position: 4 },
      { type: "machine" },
    ]);
    const made = sourced({ branch: "main", ranges }, entries);
    expect(made.at(-1)?.origin).not.toHaveProperty("position");
    expect(made[1]?.origin).not.toHaveProperty("cut");
  });

  test("whatever the view: the same messages, each one from an entry with its words [PHI-07]", () => {
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
        const ranges = parts.map(({ length, cut, text }): Range => {
          const to = Math.min(position, from + length);
          const range = {
            from,
            to,
            ...(text !== undefined
              ? { instead: { position, section: text } }
              : cut === undefined
                ? {}
                : { cut }),
          };
          from = to;
          return range;
        });
        const view = { branch: "main", ranges };
        const made = sourced(view, entries);
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

describe("the view of a past answer [PHI-07]", () => {
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
  const loop = (from: number, events: EventBody[], more: Partial<LoopTrace> = {}): LoopTrace => ({
    branch: "main",
    from,
    events,
    isFirstOfRun: false,
    ...more,
  });
  const left: Range[] = [{ from: 0, to: 2, cut: 4 }];
  const entries = entriesOf(
    ["prompt", user("go")],
    ["model", answer()],
    ["machine", compaction(0, left)],
    ["model", answer()],
    ["prompt", user("next")],
    ["model", answer()],
  );
  const first = loop(0, [compactedAt(2), ended(4)], { isFirstOfRun: true });
  const whole = (to: number) => ({ type: "view", view: { branch: "main", ranges: [{ from: 0, to }] } });
  const smaller = (to: number) => ({
    type: "view",
    view: { branch: "main", ranges: [...left, { from: 3, to }] },
  });

  test("all that stood before it, as long as nothing was compacted", () => {
    expect(pastView([first], entries, 1)).toEqual(whole(1));
    expect(pastView([first], entries, 0)).toEqual({ type: "view", view: { branch: "main", ranges: [] } });
  });

  test("what the newest compaction has left, and all since", () => {
    expect(pastView([first], entries, 3)).toEqual({ type: "view", view: { branch: "main", ranges: left } });
    expect(pastView([loop(0, [compactedAt(2)], { isFirstOfRun: true })], entries, 4)).toEqual(smaller(4));
  });

  test("a loop of the same run right behind takes it over", () => {
    expect(pastView([first, loop(4, [])], entries, 5)).toEqual(smaller(5));
  });

  test("so does one of another run, and one on a branch of its own behind its end", () => {
    expect(pastView([first, loop(4, [], { isFirstOfRun: true })], entries, 5)).toEqual(smaller(5));
    const forked = pastView([first, loop(4, [], { branch: "fork" })], entries, 5);
    expect(forked).toEqual({
      type: "view",
      view: { branch: "fork", ranges: [...left, { from: 3, to: 5 }] },
    });
  });

  test("one that begins before its end does not, nor one behind a loop that has not ended", () => {
    expect(pastView([first, loop(3, [])], entries, 5)).toEqual(whole(5));
    const open = loop(0, [compactedAt(2)], { isFirstOfRun: true });
    expect(pastView([open, loop(4, [])], entries, 5)).toEqual(whole(5));
  });

  test("one in which the model has pruned is not made again, and says so", () => {
    const pruned: EventBody = {
      type: "PrunApplied",
      pruned: [{ from: 1, to: 2 }],
      tokensRemoved: 1,
      messagesRemoved: 1,
    };
    expect(pastView([loop(0, [pruned])], entries, 4)).toEqual({ type: "changed-by-model" });
  });

  test("a compaction that was written and not taken counts for nothing", () => {
    expect(pastView([loop(0, [], { isFirstOfRun: true })], entries, 3)).toEqual(whole(3));
  });

  test("a compaction that was recorded without its ranges is named", () => {
    const old = entriesOf(["prompt", user("go")], ["machine", compaction(1)], ["model", answer()]);
    const trace = loop(0, [compactedAt(1)], { isFirstOfRun: true });
    expect(pastView([trace], old, 2)).toEqual({ type: "unrecorded", position: 1 });
  });
});
