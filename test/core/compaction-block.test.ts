import fc, { type Arbitrary, array, boolean, constantFrom, nat, property, record, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { planBlock as planned } from "../../src/conversation/compaction/block-plan.ts";
import { formatEntry, isUserText } from "../../src/conversation/compaction/clip.ts";
import { buildPlaceholder } from "../../src/conversation/compaction/placeholder.ts";
import { isText, type PlanOptions, type Section } from "../../src/conversation/compaction/plan.ts";
import { formatTurn, summarise } from "../../src/conversation/compaction/turn-summary.ts";
import {
  getEntries,
  getPositionRange,
  groupLoops,
  groupTurns,
} from "../../src/conversation/compaction/turns.ts";
import { materialise } from "../../src/conversation/materialise.ts";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import { CompactionConfig } from "../../src/schema/context.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { alike, must } from "../support/must.ts";
import { getRunCount } from "../support/test-depth.ts";
import {
  answer,
  anyMessages,
  budgets,
  entriesOf,
  extension,
  inTurn,
  lines,
  loop,
  pairsOf,
  result,
  soundMessages,
  texts,
  totalOf,
  user,
} from "./compaction-messages.ts";

const RUNS = getRunCount(10_000);
const PATIENCE_MS = 120_000;
const ROOMY = 1_000_000;
const WINDOW = { maxContextTokens: 100_000 };

/** Returns the sections of the plan; throws if no plan fits. */
function planBlock(
  entries: readonly Entry[],
  settings: CompactionConfig,
  budget: number,
  options: PlanOptions,
) {
  const plan = planned(entries, settings, budget, options);
  if (!plan.ok) throw new Error(plan.problem);
  return plan.sections;
}

const config = (changes: object = {}) => CompactionConfig.parse(changes);
const forms = (sections: readonly Section[]) => sections.map(({ from, to, form }) => [from, to, form]);
const tokensOf = (sections: readonly Section[]) => sections.reduce((sum, { tokens }) => sum + tokens, 0);
const summaryOf = (section: Section | undefined) =>
  section !== undefined && typeof section.form === "object" && "summary" in section.form
    ? section.form.summary
    : undefined;

/** The messages that a model sees under a plan. */
function shown(sections: readonly Section[], entries: readonly Entry[]): readonly AgentMessage[] {
  return sections.flatMap(({ from, to, form: as }) => {
    const inside = entries.filter(({ position }) => position >= from && position < to);
    const form = as === "whole" ? {} : as;
    if (!isText(as)) return inside.map((entry) => formatEntry(entry, form));
    const { userTextFrom = Number.POSITIVE_INFINITY } = as;
    const words = inside.filter((entry) => entry.position >= userTextFrom && isUserText(entry));
    return [buildPlaceholder(as.summary, 0), ...words.map((entry) => formatEntry(entry, form))];
  });
}

describe("turns", () => {
  test("group the entries with the same turn id; an entry without one is a separate turn [CMP-11.1-2]", () => {
    const entries = entriesOf([user("old"), user("older"), ...loop("L.1", 2), user("later")], 5);
    const turns = groupTurns(entries);
    expect(turns.map((turn) => turn.entries.length)).toEqual([1, 1, 3, 2, 1]);
    expect(turns.map(({ id }) => id?.turnIndex)).toEqual([undefined, undefined, 0, 1, undefined]);
    expect(getPositionRange(turns, { start: 2, end: 3 })).toEqual({ from: 7, to: 12 });
    expect(getEntries(turns, { start: 0, end: 1 })).toEqual(entries.slice(0, 2));
    expect(getPositionRange(turns, { start: 5, end: 9 })).toBeUndefined();
  });

  test("keep an answer and its results together, whatever their turn ids [CMP-08.3, CMP-09]", () => {
    const apart = [
      answer("", ["a", "b"]),
      inTurn(result("b", "2"), "L.1", 4),
      result("a", "1"),
      user("next"),
    ];
    expect(groupTurns(entriesOf(apart)).map((turn) => turn.entries.length)).toEqual([3, 1]);
  });

  test("take their id from the first entry that has one [CMP-11.1]", () => {
    const late = [
      answer("", ["a", "b"]),
      inTurn(result("a", "1"), "L.1", 4),
      inTurn(result("b", "2"), "L.1", 5),
      inTurn(user("still"), "L.1", 4),
    ];
    const turns = groupTurns(entriesOf(late));
    expect(turns.map(({ id, entries }) => [id, entries.length])).toEqual([
      [{ loopId: "L.1", turnIndex: 4 }, 4],
    ]);
  });

  test("include an application's message with the entry that it follows [CMP-11.1]", () => {
    const mixed = [inTurn(user("hi"), "L.1", 0), extension(1), inTurn(answer("yes"), "L.1", 0)];
    expect(groupTurns(entriesOf(mixed)).length).toBe(1);
  });

  test("are distinct if the same index is in another loop, and are grouped by loop [CMP-16.2]", () => {
    const turns = groupTurns(entriesOf([user("inbox"), ...loop("L.1", 1), ...loop("L.2", 2), user("x")]));
    expect(turns.length).toBe(5);
    expect(groupLoops(turns).map((loopTurns) => loopTurns.length)).toEqual([2, 3]);
    expect(groupLoops(groupTurns(entriesOf([user("a"), answer("b")]))).length).toBe(1);
  });
});

describe("the summary line of a turn", () => {
  const lineOf = (...messages: AgentMessage[]) => {
    const entries = entriesOf(messages.map((message) => inTurn(message, "L.1", 0)));
    return formatTurn(groupTurns(entries)[0] as never);
  };

  test("contains the user's text, and the answer's text or its number of tool calls [CMP-04.1]", () => {
    expect(lineOf(user("fix\n the  tests"), answer("on it", ["a"]), result("a", "secret"))).toBe(
      "[Summary] User: fix the tests Assistant: on it",
    );
    expect(lineOf(answer("", ["a", "b"]))).toBe("[Summary] Assistant: [Assistant used 2 tool(s)]");
    expect(lineOf(result("a", "x"))).toBe("[Summary] [No text]");
    expect(lineOf(user("hi"), extension("own"), answer("yes"))).toBe("[Summary] User: hi Assistant: yes");
  });

  test("names parts that are not text, and joins all parts of a message with spaces [CMP-04.1]", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
    const text = (words: string) => ({ type: "text" as const, text: words });
    const shown = { ...user(""), content: [text(" look"), image, text("here\n")] } as AgentMessage;
    const said = { ...answer(""), content: [text("one"), text(" "), text("two")] };
    expect(lineOf(shown, said)).toBe("[Summary] User: look [image] here Assistant: one two");
    const named = { ...user(""), content: [{ ...image, name: "a.png" }] } as AgentMessage;
    expect(lineOf(named)).toBe("[Summary] User: [image a.png 3 bytes image/png]");
    const blank = { ...answer(""), content: [text(" ")] };
    expect(lineOf(blank)).toBe("[Summary] Assistant: [Assistant response]");
  });

  test("cuts a text only above the maximum length, counted in characters [CMP-04.1]", () => {
    for (const words of ["x".repeat(200), "😀".repeat(150)]) {
      expect(lineOf(user(words))).toBe(`[Summary] User: ${words}`);
    }
    expect(lineOf(user("x".repeat(201)))).toBe(`[Summary] User: ${"x".repeat(199)}…`);
  });

  test("is a single line of bounded length [CMP-04.1]", () => {
    const long = lineOf(
      user("😀".repeat(1000)),
      user(lines(900)),
      answer("x".repeat(150)),
      answer("y".repeat(200)),
    );
    expect(long).not.toContain("\n");
    expect([...long].length).toBe(440);
    expect(long).toContain(`${"😀".repeat(199)}… User: line 1 line 2`);
  });
});

describe("a summary", () => {
  const four = () => groupTurns(entriesOf(loop("L.1", 4)));

  test("has one line for each turn [CMP-04.1]", () => {
    expect(summarise(four(), 2000, estimateMessage).split("\n")).toEqual([
      "[Summary] User: prompt of L.1 Assistant: turn 0",
      "[Summary] Assistant: turn 1",
      "[Summary] Assistant: turn 2",
      "[Summary] Assistant: turn 3",
    ]);
  });

  test("drops the turns beyond its token limit, and states their number [CMP-04.2]", () => {
    const turns = four();
    const whole = estimateMessage(buildPlaceholder(summarise(turns, 2000, estimateMessage), 0));
    expect(summarise(turns, whole, estimateMessage)).not.toContain("more");
    expect(summarise(turns, whole - 1, estimateMessage)).toMatch(
      /turn 2\n\[\.\.\. 1 more turn\(s\) \.\.\.\]$/,
    );
    expect(summarise(turns, 30, estimateMessage)).toBe(
      "[Summary] User: prompt of L.1 Assistant: turn 0\n[Summary] Assistant: turn 1\n[... 2 more turn(s) ...]",
    );
    expect(summarise(turns, 11, estimateMessage)).toBe("[... 4 more turn(s) ...]");
    expect(summarise(turns, 9, estimateMessage)).toBe("");
  });

  test("shows the last turn if its line is shorter than a line that counts it [CMP-04.2]", () => {
    const turns = groupTurns(entriesOf([answer("asked"), answer("x")]));
    const lengthOf = (message: AgentMessage) => texts([message]).join("").length;
    const whole = "[Summary] Assistant: asked\n[Summary] Assistant: x";
    expect(summarise(turns, whole.length, lengthOf)).toBe(whole);
    expect(summarise(turns, whole.length - 1, lengthOf)).toBe("[... 2 more turn(s) ...]");
  });

  test("never exceeds its token limit [CMP-04.2]", () => {
    fc.assert(
      property(soundMessages, nat(300), (messages, maxTokens) => {
        const text = summarise(groupTurns(entriesOf(messages)), maxTokens, estimateMessage);
        if (text !== "") expect(estimateMessage(buildPlaceholder(text, 0))).toBeLessThanOrEqual(maxTokens);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the default plan", () => {
  test("keeps the first turns, summarises the middle, and keeps the last turns with truncated outputs [CMP-03.1-3, CMP-07.1, CTX-04.2]", () => {
    // Turn 0 has three entries (0 to 2), every other turn two: turn n begins at 2n + 1.
    const entries = entriesOf(loop("L.1", 20, lines(60)));
    const sections = planBlock(entries, config(), ROOMY, WINDOW);
    expect(forms(sections)).toEqual([
      [0, 5, "whole"],
      [5, 21, { summary: expect.stringMatching(/^\[Summary\] Assistant: turn 2\n(.*\n){6}.*turn 9$/) }],
      [21, 39, { maxLines: 50 }],
      [39, 41, "whole"],
    ]);
    expect(sections.map(({ turns }) => turns)).toEqual([2, 8, 9, 1]);
    expect(tokensOf(sections)).toBe(totalOf(shown(sections, entries)));
  });

  test("consists of sections, each an inclusive range of turns and the form that replaces it [CMP-02.1-2]", () => {
    const entries = entriesOf(loop("L.1", 20, lines(60)));
    const turns = groupTurns(entries);
    const sections = planBlock(entries, config(), ROOMY, WINDOW);
    const ranges = [
      { start: 0, end: 1 },
      { start: 2, end: 9 },
      { start: 10, end: 18 },
      { start: 19, end: 19 },
    ];
    expect(sections.map(({ from, to }) => ({ from, to }))).toEqual(
      ranges.map((range) => getPositionRange(turns, range)),
    );
    expect(sections.map(({ turns: count }) => count)).toEqual(
      ranges.map(({ start, end }) => end - start + 1),
    );
    const messages = shown(sections, entries);
    const [first = [], middle = [], recent = [], unread = []] = ranges.map((range) =>
      getEntries(turns, range),
    );
    expect(messages.slice(0, first.length)).toEqual(first.map(({ message }) => message));
    const as = sections[1]?.form;
    expect(messages[first.length]).toMatchObject({
      role: "user",
      content: [{ type: "text", text: typeof as === "object" && "summary" in as ? as.summary : "" }],
    });
    expect(messages).toHaveLength(first.length + 1 + recent.length + unread.length);
    expect(middle).toHaveLength(16);
  });

  test("leaves a loop without a middle unchanged [CMP-08.1, CMP-07.4, X-15.1]", () => {
    const entries = entriesOf(loop("L.1", 12, lines(60)));
    expect(forms(planBlock(entries, config(), ROOMY, WINDOW))).toEqual([[0, 25, "whole"]]);
    expect(planBlock([], config(), ROOMY, WINDOW)).toEqual([]);
  });

  test("leaves a loop of any length up to the first and last turns unchanged [CMP-08.1, X-15.1]", () => {
    for (let turns = 1; turns <= 12; turns++) {
      const entries = entriesOf(loop("L.1", turns));
      expect(forms(planBlock(entries, config(), ROOMY, WINDOW))).toEqual([[0, 2 * turns + 1, "whole"]]);
    }
  });

  test("keeps messages that the application has added to the conversation", () => {
    const entries = entriesOf([
      inTurn(user("hi"), "L.1", 0),
      extension("own"),
      inTurn(answer("yes"), "L.1", 0),
    ]);
    const sections = planBlock(entries, config(), ROOMY, WINDOW);
    expect(forms(sections)).toEqual([[0, 3, "whole"]]);
    expect(tokensOf(sections)).toBe(totalOf(entries.map(({ message }) => message)));
  });

  test("summarises earlier loops within scope and omits older ones [CMP-05.1-2, CMP-07.2-3, CMP-03.4, X-15.2]", () => {
    const entries = entriesOf(["L.1", "L.2", "L.3", "L.4", "L.5"].flatMap((id) => loop(id, 1)));
    const three = planBlock(entries, config(), ROOMY, WINDOW);
    expect(forms(three)).toEqual([
      [3, 6, { summary: "[Summary] User: prompt of L.2 Assistant: turn 0" }],
      [6, 9, { summary: "[Summary] User: prompt of L.3 Assistant: turn 0" }],
      [9, 12, { summary: "[Summary] User: prompt of L.4 Assistant: turn 0" }],
      [12, 15, "whole"],
    ]);
    const none = planBlock(entries, config({ scope: { type: "fixed", loops: 0 } }), ROOMY, WINDOW);
    expect(forms(none)).toEqual([[12, 15, "whole"]]);
    const scope = { type: "token-budget" };
    const two = totalOf(loop("L.1", 1)) * 2;
    expect(planBlock(entries, config({ scope }), ROOMY, { maxContextTokens: two }).length).toBe(3);
  });

  test("keeps fewer recent turns first when it exceeds the budget", () => {
    const entries = entriesOf(loop("L.1", 20, "x".repeat(400)));
    const roomy = planBlock(entries, config(), ROOMY, WINDOW);
    const tight = planBlock(entries, config(), tokensOf(roomy) - 1, WINDOW);
    expect(tight.map(({ turns }) => turns)).toEqual([2, 9, 8, 1]);
    const tighter = planBlock(entries, config(), 700, WINDOW);
    expect(tighter.map(({ turns }) => turns)).toEqual([2, 16, 1, 1]);
  });

  test("keeps fewer recent turns over the budget, never more, whatever a summary costs", () => {
    const entries = entriesOf(loop("L.1", 13));
    const summariseTurns = (turns: readonly unknown[]) => (turns.length === 1 ? "x".repeat(8000) : "");
    const sections = planBlock(entries, config(), 1000, { ...WINDOW, summarise: summariseTurns });
    expect(sections.map(({ turns }) => turns)).toEqual([2, 2, 8, 1]);
  });

  test("halves the lines of results that an answer has read before it drops their turn", () => {
    const read = [...loop("L.1", 3, lines(60, "some words of a line")), inTurn(answer("so"), "L.1", 2)];
    const entries = entriesOf([...read, inTurn(user("and?"), "L.1", 3)]);
    const settings = config({ keepFirstTurns: 0, keepRecentTurns: 3 });
    const cutAt = (budget: number) =>
      planBlock(entries, settings, budget, WINDOW).flatMap(({ form }) => form);
    expect(cutAt(500)).toContainEqual({ maxLines: 50 });
    expect(cutAt(300)).toContainEqual({ maxLines: 25 });
    expect(cutAt(130)).toContainEqual({ maxLines: 6 });
    expect(planBlock(entries, settings, 60, WINDOW).map(({ from, to }) => [from, to])).toEqual([
      [0, 8],
      [8, 9],
    ]);
  });

  test("keeps unread results whole while they fit, whatever their number of lines", () => {
    const entries = entriesOf([...loop("L.1", 3), ...loop("L.2", 6, lines(600))]);
    const sections = planBlock(entries, config(), 4000, WINDOW);
    expect(sections.at(-1)).toMatchObject({ from: 18, to: 20, form: "whole" });
  });

  test("divides the remaining budget evenly among large unread results, and keeps a small one whole [CTX-15]", () => {
    const json = (length: number) => `{"rows":"${"ab".repeat(length / 2)}"}`;
    const outputs = [json(200_000), "short", json(180_000)];
    const entries = entriesOf([
      inTurn(user("look"), "L.1", 0),
      inTurn(answer("", ["a", "b", "c"]), "L.1", 0),
      ...outputs.map((output, index) => inTurn(result("abc"[index] as string, output), "L.1", 0)),
    ]);
    const sections = planBlock(entries, config(), 20_000, WINDOW);
    const [first = "", second, third = ""] = texts(shown(sections, entries)).slice(2);
    expect(second).toBe("short");
    expect(first.length).toBeGreaterThan(38_000);
    expect(Math.abs(first.length - third.length)).toBeLessThan(4);
    expect(first).toMatch(/^\{"rows":"abab/);
    expect(first).toMatch(/abab"\}$/);
    expect(tokensOf(sections)).toBeGreaterThan(19_000);
    expect(tokensOf(sections)).toBeLessThanOrEqual(20_000);
  });

  test("also limits the characters of results that an answer has read: minified JSON is one line [CTX-15]", () => {
    const read = [...loop("L.1", 3, "x".repeat(200_000)), inTurn(answer("so"), "L.1", 3)];
    const entries = entriesOf([...read, inTurn(user("and?"), "L.1", 4)]);
    const sections = planBlock(entries, config({ keepFirstTurns: 0 }), 20_000, WINDOW);
    expect(sections.map(({ form }) => form)).toContainEqual({ maxLines: 50, maxChars: 10_000 });
    expect(tokensOf(sections)).toBe(totalOf(shown(sections, entries)));
  });

  test("as a last resort keeps the newest turns that fit, after a marker and the user messages that the loop answers [CTX-14.2, CTX-15]", () => {
    const entries = entriesOf([...loop("L.1", 1), ...loop("L.2", 20, "x".repeat(400))]);
    const long = () => "x".repeat(4000);
    const sections = planBlock(entries, config(), 310, { ...WINDOW, summarise: long });
    expect(forms(sections)).toEqual([
      [0, 40, { summary: "[Context compacted: 40 messages removed]", userTextFrom: 3 }],
      [40, 42, { maxLines: 50 }],
      [42, 44, "whole"],
    ]);
    expect(texts(shown(sections, entries)).slice(0, 2)).toEqual([
      "[Context compacted: 40 messages removed]",
      "prompt of L.2",
    ]);
    expect(tokensOf(sections)).toBeLessThanOrEqual(310);
  });

  test("keeps user messages whole in exactly the budget, clips them one token below, and rejects too small a budget with the reason [CTX-15]", () => {
    const asked = entriesOf([inTurn(user("why? ".repeat(800)), "L.1", 0)]);
    const whole = totalOf(asked.map(({ message }) => message));
    expect(forms(planBlock(asked, config(), whole, WINDOW))).toEqual([[0, 1, "whole"]]);
    const [cut] = planBlock(asked, config(), whole - 1, WINDOW);
    expect(cut?.form).toEqual({ maxUserChars: expect.any(Number) });
    expect(cut?.tokens).toBeLessThanOrEqual(whole / 2);
    expect(planned(asked, config(), 40, WINDOW)).toEqual({
      ok: false,
      problem: `The user messages that this loop answers (1 message, ${whole} tokens) and what the model has not read yet do not fit into 40 tokens, not even cut to their beginnings and ends`,
    });
  });

  test("turns an answer with an oversized call and its results into one text, separate from user messages", () => {
    const call = {
      type: "toolCall" as const,
      id: "a",
      name: "write",
      arguments: { text: "y".repeat(40_000) },
    };
    const entries = entriesOf([
      inTurn(user("THE TASK"), "L.1", 0),
      inTurn({ ...answer(""), content: [call], stopReason: "toolUse" }, "L.1", 0),
      inTurn(result("a", "written"), "L.1", 0),
    ]);
    const sections = planBlock(entries, config(), 800, WINDOW);
    const [text = "", words] = texts(shown(sections, entries));
    expect(words).toBe("THE TASK");
    expect(text).toMatch(/^\[Your answer\]\n\[Called write\] \{"text":"yyy/);
    expect(text).toMatch(/call read_full_message with \{"message": 1, "from": \d+\}/);
    expect(text).toMatch(/\[Result of read\] written$/);
  });

  test("keeps user messages of the middle, after the text that replaces it [CMP-03.2]", () => {
    const steered = (text: string, turn: number) => inTurn(user(text), "L.1", turn);
    const turns = loop("L.1", 20);
    const entries = entriesOf([...turns.slice(0, 11), steered("in French", 5), ...turns.slice(11)]).map(
      (entry) => (entry.position === 11 ? { ...entry, origin: "steering" as const } : entry),
    );
    const sections = planBlock(entries, config({ keepFirstTurns: 0 }), ROOMY, WINDOW);
    expect(texts(shown(sections, entries)).slice(1, 3)).toEqual(["prompt of L.1", "in French"]);
    expect(sections[0]?.form).toMatchObject({ userTextFrom: 0 });
  });

  test("keeps the user messages of the previous loop if a loop has none", () => {
    const going = loop("L.2", 3).slice(1);
    const entries = entriesOf([...loop("L.1", 2), ...going]);
    const scope = { type: "fixed", loops: 0 };
    const sections = planBlock(
      entries,
      config({ scope, keepFirstTurns: 0, keepRecentTurns: 0 }),
      ROOMY,
      WINDOW,
    );
    expect(texts(shown(sections, entries))[1]).toBe("prompt of L.1");
  });

  test("with no turns to keep and no summary, keeps the unread turn and the user messages", () => {
    const entries = entriesOf(loop("L.1", 4));
    const none = config({ keepFirstTurns: 0, keepRecentTurns: 0, maxSummaryTokens: 0 });
    expect(texts(shown(planBlock(entries, none, ROOMY, WINDOW), entries))).toEqual([
      "[Context compacted: 7 messages removed]",
      "prompt of L.1",
      "turn 3",
      "out",
    ]);
  });

  test("shows only the given entries: a section ends where entries are missing [PHI-13g.1]", () => {
    const entries = entriesOf(loop("L.1", 6)).filter(({ position }) => position < 3 || position > 6);
    const sections = planBlock(entries, config(), ROOMY, WINDOW);
    expect(forms(sections)).toEqual([
      [0, 3, "whole"],
      [7, 13, "whole"],
    ]);
    expect(sections.map(({ turns }) => turns)).toEqual([1, 3]);
  });

  test("omits the message of an earlier compaction, and starts again from the record [CMP-01.3, PHI-13g.1]", () => {
    const entries = entriesOf(loop("L.1", 3));
    const note = {
      ...extension({ sections: [{ text: "x".repeat(4000) }] }),
      kind: "compaction",
    } as AgentMessage;
    const between = [
      ...entries,
      ...entriesOf([note], 7),
      ...entriesOf([inTurn(answer("go on"), "L.1", 3)], 8),
    ];
    const sections = planBlock(between, config(), ROOMY, WINDOW);
    expect(forms(sections)).toEqual([
      [0, 7, "whole"],
      [8, 9, "whole"],
    ]);
    expect(tokensOf(sections)).toBeLessThan(200);
  });

  test("counts what a view adds for a call without a result [CTX-15]", () => {
    const asking = inTurn(answer("", ["a", "b"]), "L.1", 0);
    for (const before of [[], [user("hi")], [user("hi"), user("there")]]) {
      const entries = entriesOf([...before.map((message) => inTurn(message, "L.1", 0)), asking]);
      const sections = planBlock(entries, config(), ROOMY, WINDOW);
      expect(tokensOf(sections)).toBe(totalOf(seen(sections, entries)));
    }
  });

  test("uses the text of another summariser, and a marker if it returns none [CMP-10.1]", () => {
    const entries = entriesOf([...loop("L.1", 1), ...loop("L.2", 20)]);
    const summariseTurns = (turns: readonly unknown[], maxTokens: number) =>
      turns.length === 1 ? "" : `${turns.length} turns in ${maxTokens} tokens`;
    const sections = planBlock(entries, config(), ROOMY, { ...WINDOW, summarise: summariseTurns });
    expect(sections.map(summaryOf)).toEqual([
      "[Context compacted: 3 messages removed]",
      undefined,
      "8 turns in 2000 tokens",
      undefined,
      undefined,
    ]);
  });

  test("is the same with a focus message, which only the summarising model reads [CMP-14.2]", () => {
    const entries = entriesOf(loop("L.1", 20, lines(60)));
    const focused = planBlock(entries, config({ focusMessage: "the prices" }), ROOMY, WINDOW);
    expect(focused).toEqual(planBlock(entries, config(), ROOMY, WINDOW));
    expect(focused).toHaveLength(4);
  });

  test("uses another token counter if one is given [CTX-04.1]", () => {
    const entries = entriesOf(loop("L.1", 20));
    const sections = planBlock(entries, config(), 20, { ...WINDOW, count: () => 1 });
    expect(sections.map(({ turns, tokens }) => [turns, tokens])).toEqual([
      [2, 5],
      [11, 1],
      [6, 12],
      [1, 2],
    ]);
  });
});

/** The messages as the model receives them, with results for orphaned calls. */
function seen(sections: readonly Section[], entries: readonly Entry[]): readonly AgentMessage[] {
  const parts = shown(sections, entries);
  const range = { from: 0, to: parts.length };
  return materialise({ branch: "main", ranges: [range] } as never, entriesOf(parts));
}

/** Any entries: turn ids of a few loops, missing or out of order; positions with gaps. */
function placed(messages: Arbitrary<AgentMessage[]>): Arbitrary<Entry[]> {
  const place = record({ loop: constantFrom("L.1", "L.2"), begins: boolean(), hole: nat(9), bare: nat(9) });
  return tuple(messages, array(place, { minLength: 60, maxLength: 60 })).map(([given, places]) => {
    let position = 0;
    let turn = 0;
    return given.map((message, index) => {
      const { loop: loopId, begins, hole, bare } = places[index % places.length] as (typeof places)[number];
      if (begins) turn++;
      position += hole === 0 ? 2 : 1;
      const told = bare === 0 ? message : inTurn(message, turn < 6 ? "L.0" : loopId, turn);
      return { position, origin: "model" as const, message: told, tokens: estimateMessage(message) };
    });
  });
}

const configs = record({
  keepFirstTurns: nat(4),
  keepRecentTurns: nat(12),
  maxSummaryTokens: nat(200),
  toolOutputMaxLines: nat(60),
  scope: constantFrom({ type: "fixed", loops: 1 }, { type: "fixed", loops: 3 }, { type: "token-budget" }),
}).map((changes) => config(changes));

describe("a plan for any entries and any budget", () => {
  const always = (
    entries: Arbitrary<Entry[]>,
    checked: (sections: readonly Section[], given: readonly Entry[], budget: number) => void,
  ) =>
    fc.assert(
      property(entries, configs, budgets, (given, chosen, budget) => {
        const plan = planned(given, chosen, budget, { maxContextTokens: 1000 });
        if (plan.ok) checked(plan.sections, given, budget);
      }),
      { numRuns: RUNS },
    );

  test(
    "never exceeds the budget, and counts at least what it shows [CTX-15]",
    () => {
      always(placed(anyMessages), (sections, entries, budget) => {
        const tokens = tokensOf(sections);
        must(tokens <= Math.max(0, budget), `${tokens} tokens fit in ${budget}`);
        const counted = totalOf(shown(sections, entries));
        must(tokens >= counted, `${tokens} tokens, of which ${counted} are shown`);
      });
    },
    PATIENCE_MS,
  );

  test(
    "has sections in order, without overlap, that show only the given entries [CMP-08.2, PHI-13g.1]",
    () => {
      always(placed(anyMessages), (sections, entries) => {
        let behind = 0;
        for (const { from, to, form } of sections) {
          must(from >= behind && to > from, `${from} to ${to} is behind ${behind}`);
          behind = to;
          const inside = entries.filter(({ position }) => position >= from && position < to);
          must(isText(form) || inside.length === to - from, `${from} to ${to} has no hole`);
        }
      });
    },
    PATIENCE_MS,
  );

  test(
    "shows a call and its result in the same form, or neither [CMP-08.3, CMP-09]",
    () => {
      always(placed(anyMessages), (sections, entries) => {
        const formAt = (position: number) => {
          const section = sections.find(({ from, to }) => position >= from && position < to);
          if (section === undefined || summaryOf(section) !== undefined) return "gone";
          return section.form;
        };
        const positionAt = (index: number) => entries[index]?.position ?? -1;
        for (const pair of pairsOf(entries.map(({ message }) => message))) {
          alike(formAt(positionAt(pair.answer)), formAt(positionAt(pair.result)));
        }
      });
    },
    PATIENCE_MS,
  );

  test(
    "fits the budget as the model receives it, and contains no orphan [CTX-15]",
    () => {
      always(placed(soundMessages), (sections, entries, budget) => {
        const messages = seen(sections, entries);
        alike(messages, shown(sections, entries));
        const tokens = totalOf(messages);
        must(tokens <= Math.max(0, budget), `${tokens} tokens fit in ${budget}`);
      });
    },
    PATIENCE_MS,
  );
});
