import fc, { type IProperty, nat, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { formatEntry, isUserText } from "../../src/conversation/compaction/clip.ts";
import { cutText, cutToolResult } from "../../src/conversation/compaction/cut-text.ts";
import { buildPlaceholder } from "../../src/conversation/compaction/placeholder.ts";
import { isText, type Section } from "../../src/conversation/compaction/plan.ts";
import { planTiered } from "../../src/conversation/compaction/tiered-plan.ts";
import { findOrphan } from "../../src/conversation/orphans.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
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
  result,
  soundMessages,
  texts,
  totalOf,
  user,
} from "./compaction-messages.ts";

const RUNS = getRunCount(10_000);
const PATIENCE_MS = 120_000;
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

const OPTIONS = { budget: 96_000, keepFirst: 2, keepRecent: 10, toolOutputMaxLines: 50 };
type Options = typeof OPTIONS & { readonly count?: (message: AgentMessage) => number };

function planned(
  messages: readonly AgentMessage[],
  { budget, count, ...config }: Options,
): readonly Section[] {
  const plan = planTiered(entriesOf(messages), config, budget, count === undefined ? {} : { count });
  if (!plan.ok) throw new Error(plan.problem);
  return plan.sections;
}

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

const compacted = (messages: readonly AgentMessage[], options: Options) =>
  shown(planned(messages, options), entriesOf(messages));

/** Assigns messages to an earlier loop, so that the current loop does not answer them. */
const before = (messages: readonly AgentMessage[]) =>
  messages.map((message, turn) => inTurn(message, "L.0", turn));

describe("cutting a text", () => {
  test("keeps half of the lines from the beginning and the rest from the end [CTX-12.1-2]", () => {
    expect(cutText(lines(60), 50)).toBe(
      `${lines(25)}\n\n[... 10 lines truncated ...]\n\n${lines(60).split("\n").slice(35).join("\n")}`,
    );
    expect(cutText("a\nb\nc\nd", 3)).toBe("a\n\n[... 1 lines truncated ...]\n\nc\nd");
    expect(cutText("a\nb", 1)).toBe("\n\n[... 1 lines truncated ...]\n\nb");
    expect(cutText("a\nb", 0)).toBe("\n\n[... 2 lines truncated ...]\n\n");
  });

  test("leaves a text with exactly the maximum number of lines unchanged; a trailing line break starts no line [CTX-12.1]", () => {
    expect(cutText(lines(50), 50)).toBe(lines(50));
    expect(cutText(`${lines(50)}\n`, 50)).toBe(`${lines(50)}\n`);
    expect(cutText("a\nb\nc\n", 2)).toBe("a\n\n[... 1 lines truncated ...]\n\nc");
    expect(cutText("", 0)).toBe("");
  });

  test("cuts each text part of a tool result separately, and nothing else [CTX-12.3]", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
    const long = { type: "text", text: lines(4) } as const;
    const message = { ...result("a", ""), content: [long, image, { type: "text", text: "x" }, long] };
    const cut = cutToolResult(message as AgentMessage, 2) as typeof message;
    const short = { type: "text", text: "line 1\n\n[... 2 lines truncated ...]\n\nline 4" };
    expect(cut.content).toEqual([short, image, { type: "text", text: "x" }, short]);
    const said = user(lines(4));
    expect(cutToolResult(said, 2)).toBe(said);
    const few = result("a", "x");
    expect(cutToolResult(few, 2)).toBe(few);
  });
});

describe("the three tiers", () => {
  test("leave messages that fit unchanged [CTX-11.1, TEST-01.1-2]", () => {
    const messages = [user("hi"), answer("", ["a"]), result("a", lines(80)), answer("done")];
    expect(planned(messages, OPTIONS).map(({ form }) => form)).toEqual(["whole"]);
    const exactly = { ...OPTIONS, budget: totalOf(messages) };
    expect(compacted(messages, exactly)).toEqual(messages);
    expect(compacted(messages, { ...exactly, budget: exactly.budget - 1 })).not.toEqual(messages);
  });

  test("cut only tool outputs if that is enough [CTX-11.2, CTX-12.3]", () => {
    const messages = [user("hi"), answer("", ["a"]), result("a", lines(400)), answer("done")];
    expect(compacted(messages, { ...OPTIONS, budget: 300 })).toEqual([
      messages[0],
      messages[1],
      cutToolResult(messages[2] as AgentMessage, 50),
      messages[3],
    ]);
  });

  test("summarise no answer if shorter outputs are enough [CTX-11.2, CTX-13.1]", () => {
    const old = answer("old words", ["a"]);
    const messages = [user("hi"), old, result("a", lines(400)), answer("done"), user("more")];
    const options = { ...OPTIONS, budget: 300, keepRecent: 1 };
    expect(compacted(messages, options)[1]).toEqual(old);
    expect(texts(compacted(messages, { ...options, budget: 60 }))).toEqual([
      "hi",
      "[Summary] old words\n[Summary] done",
      "more",
    ]);
  });

  test("then replace each old answer by a summary, without its results [CTX-13.1-5]", () => {
    const messages = [
      user("question"),
      answer("short words", ["a", "b"], 11),
      result("a", "x".repeat(4000)),
      result("b", "x"),
      result("nobody", "orphan"),
      extension({ note: 1 }),
      answer("y".repeat(201), ["c", "d"]),
      result("c", "x"),
      result("d", "x"),
      answer("z".repeat(500)),
      user("more"),
      answer("last"),
    ];
    const left = compacted(messages, { ...OPTIONS, budget: 300, keepRecent: 2 });
    expect(texts(left)).toEqual([
      "question",
      "[Summary] short words",
      "",
      "[Summary] [Assistant used 2 tool(s)]\n[Summary] [Assistant response]",
      "more",
      "last",
    ]);
    expect(left[2]).toBe(messages[5]);
  });

  test("repeat an answer of 200 characters in the summary, but not one of 201 [CTX-13.1-2]", () => {
    const old = [
      answer("y".repeat(200)),
      result("x", "z".repeat(2000)),
      answer("y".repeat(201)),
      user("now"),
    ];
    expect(texts(compacted(old, { ...OPTIONS, budget: 120, keepRecent: 1 }))).toEqual([
      `[Summary] ${"y".repeat(200)}\n[Summary] [Assistant response]`,
      "now",
    ]);
  });

  test("merge the oldest of many sections into one text, followed by their user messages [CTX-13.4]", () => {
    const messages = Array.from({ length: 40 }, (_, index) => [
      user(`question ${index}`),
      answer(`answer ${index}`, [`c${index}`]),
      result(`c${index}`, "x".repeat(400)),
    ]).flat();
    const sections = planned(messages, { ...OPTIONS, budget: 3000, keepRecent: 3 });
    expect(sections.length).toBeLessThanOrEqual(27);
    const left = texts(shown(sections, entriesOf(messages)));
    expect(left[0]).toMatch(/^\[Summary\] answer 0\n\[Summary\] answer 1\n/);
    for (let index = 0; index < 40; index++) {
      expect(left.filter((text) => text === `question ${index}`)).toHaveLength(1);
      expect(left.join("\n")).toContain(`answer ${index}`);
    }
  });

  test("start the last messages at an answer, not at its results [CTX-13.5, CMP-09]", () => {
    const messages = [...before([user("x".repeat(4000)), answer("old")]), ...loop("L.1", 1)];
    const left = compacted(messages, { ...OPTIONS, budget: 200, keepFirst: 0, keepRecent: 1 });
    expect(left.slice(1)).toEqual(messages.slice(2));
    expect(texts(left)[0]).toMatch(/^\[Context compacted: 2 messages removed/);
  });

  test("then keep the first and the last messages with a marker between them [CTX-14.1, TEST-01.3]", () => {
    const old = before(Array.from({ length: 29 }, (_, index) => user(`${index} ${"x".repeat(400)}`)));
    const messages = [...old, inTurn(user("now"), "L.1", 0)];
    const left = compacted(messages, { ...OPTIONS, budget: 600, keepRecent: 3 });
    expect(texts(left)).toEqual([
      ...texts(messages.slice(0, 2)),
      "[Context compacted: 25 messages removed to fit context window]",
      ...texts(messages.slice(27)),
    ]);
  });

  test("and keep the user messages that the loop answers, after the marker, whatever their position [CTX-14.1]", () => {
    const turns = loop("L.1", 30, "x".repeat(400));
    const messages = [...before([user("old"), answer("fine")]), ...turns];
    const left = compacted(messages, { ...OPTIONS, budget: 330, keepFirst: 0, keepRecent: 4 });
    expect(texts(left).slice(0, 2)).toEqual([
      "[Context compacted: 59 messages removed to fit context window]",
      "prompt of L.1",
    ]);
  });

  test("as a last resort keep the newest messages that fit, after a marker [CTX-14.2]", () => {
    const old = before(Array.from({ length: 29 }, (_, index) => answer(`${index} ${"x".repeat(397)}`)));
    const messages = [...old, inTurn(user("now"), "L.1", 0)];
    const left = compacted(messages, { ...OPTIONS, budget: 350, keepFirst: 1, keepRecent: 10 });
    expect(texts(left)).toEqual(["[Context compacted: 26 messages removed]", ...texts(messages.slice(26))]);
  });

  test("reject a budget that is too small for the user messages, with the reason [X-13.3]", () => {
    const plan = planTiered(entriesOf([user("x".repeat(400)), user("hi")]), OPTIONS, 20);
    expect(plan).toMatchObject({ ok: false, problem: expect.stringContaining("do not fit into 20 tokens") });
  });

  test("keep the unread result and the prompt, however few messages the settings keep", () => {
    const messages = loop("L.1", 8, "x".repeat(2000));
    const left = compacted(messages, { ...OPTIONS, budget: 700, keepFirst: 0, keepRecent: 0 });
    expect(texts(left).at(-1)).toBe("x".repeat(2000));
    expect(texts(left)).toContain("prompt of L.1");
  });

  test("use another token counter if one is given [CTX-04.1]", () => {
    const old = before(Array.from({ length: 8 }, (_, index) => user(`${index}`)));
    const messages = [...old, inTurn(user("8"), "L.1", 0)];
    const options = { budget: 4, keepFirst: 1, keepRecent: 2, toolOutputMaxLines: 50, count: () => 1 };
    expect(texts(compacted(messages, options))).toEqual([
      "0",
      "[Context compacted: 6 messages removed to fit context window]",
      "7",
      "8",
    ]);
  });
});

const options = record({
  budget: budgets,
  keepFirst: nat(4),
  keepRecent: nat(12),
  toolOutputMaxLines: nat(60),
});

describe("a plan for any conversation and any budget", () => {
  test(
    "never exceeds the budget, and counts at least what it shows [CTX-15, X-13.1, TEST-02]",
    () => {
      check(
        property(anyMessages, options, (messages, { budget, ...config }) => {
          const entries = entriesOf(messages);
          const plan = planTiered(entries, config, budget);
          if (!plan.ok) return;
          const tokens = plan.sections.reduce((sum, section) => sum + section.tokens, 0);
          expect(tokens).toBeLessThanOrEqual(Math.max(0, budget));
          expect(tokens).toBeGreaterThanOrEqual(totalOf(shown(plan.sections, entries)));
        }),
      );
    },
    PATIENCE_MS,
  );

  test(
    "creates no orphan where there was none, even if ids repeat [X-13.2, GAP-08.2]",
    () => {
      check(
        property(soundMessages, options, (messages, { budget, ...config }) => {
          const entries = entriesOf(messages);
          const plan = planTiered(entries, config, budget);
          if (plan.ok) expect(findOrphan(shown(plan.sections, entries))).toBeUndefined();
        }),
      );
    },
    PATIENCE_MS,
  );

  test(
    "shows what fits unchanged [CTX-11.1]",
    () => {
      check(
        property(soundMessages, options, (messages, given) => {
          expect(compacted(messages, { ...given, budget: totalOf(messages) })).toEqual(messages);
        }),
      );
    },
    PATIENCE_MS,
  );
});
