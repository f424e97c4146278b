import fc, { type IProperty, nat, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText, cutToolResult } from "../../src/core/compaction/cut-text.ts";
import { compactTiered } from "../../src/core/compaction/tiered.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import { runsOf } from "../support/depth.ts";
import {
  answer,
  anyMessages,
  budgets,
  extension,
  inTurn,
  lines,
  pairsOf,
  result,
  soundMessages,
  texts,
  totalOf,
  user,
} from "./compaction-messages.ts";

const RUNS = runsOf(10_000);
const PATIENCE_MS = 120_000;
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

const OPTIONS = { budget: 96_000, keepFirst: 2, keepRecent: 10, toolOutputMaxLines: 50 };

describe("cutting a text", () => {
  test("keeps half of the lines from the beginning and the rest from the end [CTX-12]", () => {
    expect(cutText(lines(60), 50)).toBe(
      `${lines(25)}\n\n[... 10 lines truncated ...]\n\n${lines(60).split("\n").slice(35).join("\n")}`,
    );
    expect(cutText("a\nb\nc\nd", 3)).toBe("a\n\n[... 1 lines truncated ...]\n\nc\nd");
    expect(cutText("a\nb", 1)).toBe("\n\n[... 1 lines truncated ...]\n\nb");
    expect(cutText("a\nb", 0)).toBe("\n\n[... 2 lines truncated ...]\n\n");
  });

  test("leaves a text of just so many lines, and a line break at its end begins none [CTX-12]", () => {
    expect(cutText(lines(50), 50)).toBe(lines(50));
    expect(cutText(`${lines(50)}\n`, 50)).toBe(`${lines(50)}\n`);
    expect(cutText("a\nb\nc\n", 2)).toBe("a\n\n[... 1 lines truncated ...]\n\nc");
    expect(cutText("", 0)).toBe("");
  });

  test("cuts each text of a tool result by itself, and nothing else [CTX-12]", () => {
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
  test("messages that fit come back as they are [CTX-11]", () => {
    const messages = [user("hi"), answer("", ["a"]), result("a", lines(80))];
    expect(compactTiered(messages, OPTIONS)).toBe(messages);
    const exactly = { ...OPTIONS, budget: totalOf(messages) };
    expect(compactTiered(messages, exactly)).toBe(messages);
    expect(compactTiered(messages, { ...exactly, budget: exactly.budget - 1 })).not.toBe(messages);
  });

  test("stop at tool outputs when that is enough [CTX-11, CTX-12]", () => {
    const messages = [user("hi"), answer("", ["a"]), result("a", lines(400)), answer("done")];
    const compacted = compactTiered(messages, { ...OPTIONS, budget: 300 });
    expect(compacted).toEqual([
      messages[0],
      messages[1],
      cutToolResult(messages[2] as AgentMessage, 50),
      messages[3],
    ]);
  });

  test("sum up no answer when shorter outputs are enough, and keep the turn of one that they sum up [CTX-11, CTX-13]", () => {
    const old = inTurn(answer("old words", ["a"]), "L.1", 3);
    const messages = [user("hi"), old, result("a", lines(400)), answer("done")];
    const options = { ...OPTIONS, budget: 300, keepRecent: 1 };
    expect(compactTiered(messages, options)[1]).toBe(old);
    const tight = compactTiered(messages, { ...options, budget: 30 });
    expect(tight[1]).toEqual(inTurn(user("[Summary] old words"), "L.1", 3));
    const bare = compactTiered([user("hi"), answer("old words", ["a"]), result("a", lines(400)), user("x")], {
      ...options,
      budget: 30,
    });
    expect(bare[1]).toStrictEqual(user("[Summary] old words"));
  });

  test("then give a summary for each old answer, without its results [CTX-13]", () => {
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
    const compacted = compactTiered(messages, { ...OPTIONS, budget: 300, keepRecent: 2 });
    expect(texts(compacted)).toEqual([
      "question",
      "[Summary] short words",
      "",
      "[Summary] [Assistant used 2 tool(s)]",
      "[Summary] [Assistant response]",
      "more",
      "last",
    ]);
    expect(compacted[1]).toEqual(user("[Summary] short words", 11));
    expect(compacted[2]).toBe(messages[5]);
  });

  test("a text of 200 characters is repeated, one of 201 is not [CTX-13]", () => {
    const old = [
      answer("y".repeat(200)),
      answer("y".repeat(201)),
      result("x", "z".repeat(2000)),
      user("now"),
    ];
    const compacted = compactTiered(old, { ...OPTIONS, budget: 120, keepRecent: 1 });
    expect(texts(compacted)).toEqual([
      `[Summary] ${"y".repeat(200)}`,
      "[Summary] [Assistant response]",
      "now",
    ]);
  });

  test("the messages kept from the end begin with the answer, not with its results [CTX-13, CMP-09]", () => {
    const messages = [
      user("x".repeat(4000)),
      answer("old"),
      answer("", ["a", "b"]),
      result("a", "1"),
      result("b", "2"),
    ];
    const compacted = compactTiered(messages, { ...OPTIONS, budget: 200, keepFirst: 0, keepRecent: 1 });
    expect(compacted.slice(1)).toEqual(messages.slice(2));
    expect(texts(compacted)[0]).toBe("[Context compacted: 2 messages removed to fit context window]");
  });

  test("then keep the first and the last ones with a marker between [CTX-14]", () => {
    const messages = Array.from({ length: 30 }, (_, index) => user(`${index} ${"x".repeat(400)}`, index));
    const compacted = compactTiered(messages, { ...OPTIONS, budget: 2000 });
    expect(compacted).toEqual([
      ...messages.slice(0, 2),
      user("[Context compacted: 18 messages removed to fit context window]", 19),
      ...messages.slice(20),
    ]);
  });

  test("at last keep the newest that fit behind a marker [CTX-14]", () => {
    const messages = Array.from({ length: 30 }, (_, index) => user(`${index} ${"x".repeat(397)}`, index));
    const compacted = compactTiered(messages, { ...OPTIONS, budget: 350 });
    expect(compacted).toEqual([user("[Context compacted: 27 messages removed]", 29), ...messages.slice(27)]);
    const few = compactTiered(messages.slice(0, 5), { ...OPTIONS, budget: 230 });
    expect(texts(few)[0]).toBe("[Context compacted: 3 messages removed]");
    expect(few.length).toBe(3);
  });

  test("a budget too small for a marker gives fewer messages, or none [X-13]", () => {
    const messages = [user("x".repeat(400)), user("hi")];
    expect(compactTiered(messages, { ...OPTIONS, budget: 5 })).toEqual([user("hi")]);
    expect(compactTiered(messages, { ...OPTIONS, budget: 4 })).toEqual([]);
    expect(compactTiered(messages, { ...OPTIONS, budget: 0 })).toEqual([]);
  });

  test("a marker that fits to the last token stands alone [X-13]", () => {
    const messages = [user("x".repeat(400)), user("hi")];
    const marker = user("[Context compacted: 2 messages removed]");
    expect(compactTiered(messages, { ...OPTIONS, budget: totalOf([marker]) })).toEqual([marker]);
    expect(compactTiered(messages, { ...OPTIONS, budget: totalOf([marker]) - 1 })).toEqual([user("hi")]);
  });

  test("a result that nobody asked for goes first, and takes no room from the others [CTX-14]", () => {
    const messages = [user("first"), result("nobody", "x".repeat(4000)), user("hi")];
    const left = [user("[Context compacted: 1 messages removed]"), user("first"), user("hi")];
    expect(compactTiered(messages, { ...OPTIONS, budget: totalOf(left) })).toEqual(left);
  });

  test("another counter decides, where one is given [CTX-04]", () => {
    const messages = Array.from({ length: 9 }, (_, index) => user(`${index}`));
    const options = { budget: 4, keepFirst: 1, keepRecent: 2, toolOutputMaxLines: 50, count: () => 1 };
    expect(texts(compactTiered(messages, options))).toEqual([
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

describe("any conversation, any budget", () => {
  test(
    "never goes over the budget [CTX-15]",
    () => {
      check(
        property(anyMessages, options, (messages, given) => {
          expect(totalOf(compactTiered(messages, given))).toBeLessThanOrEqual(Math.max(0, given.budget));
        }),
      );
    },
    PATIENCE_MS,
  );

  test(
    "parts no call from its result [CTX-15, PRUN-11]",
    () => {
      check(
        property(anyMessages, options, (messages, given) => {
          // A time stamp tells which message one was made of; summaries and markers are no answers and no results.
          const left = compactTiered(messages, given).filter(
            ({ role }) => role !== "user" && role !== "extension",
          );
          const standing = new Set(left.map(({ timestamp }) => timestamp));
          for (const pair of pairsOf(messages)) {
            expect(standing.has(pair.answer)).toBe(standing.has(pair.result));
          }
        }),
      );
    },
    PATIENCE_MS,
  );

  test(
    "makes no orphan where there was none, whatever ids repeat [CTX-15, GAP-08]",
    () => {
      check(
        property(soundMessages, options, (messages, given) => {
          const compacted = compactTiered(messages, given);
          let open: string[] = [];
          for (const message of compacted) {
            if (message.role === "toolResult") {
              expect(message.toolCallId).toBe(open.shift());
              continue;
            }
            expect(open).toEqual([]);
            if (message.role !== "assistant") continue;
            open = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
          }
          expect(open).toEqual([]);
        }),
      );
    },
    PATIENCE_MS,
  );

  test(
    "compacting twice is compacting once [CTX-11]",
    () => {
      check(
        property(anyMessages, options, (messages, given) => {
          const once = compactTiered(messages, given);
          expect(compactTiered(once, given)).toEqual(once);
        }),
      );
    },
    PATIENCE_MS,
  );
});
