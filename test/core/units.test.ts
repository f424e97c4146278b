import { array, assert, boolean, constantFrom, integer, nat, property, record, string } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import { UNANSWERED_CALL } from "../../src/conversation/orphans.ts";
import { addUsage, computeCacheHitRate, computeCost, NO_USAGE } from "../../src/core/budget/usage.ts";
import { estimateBody } from "../../src/core/machine/append-message.ts";
import { buildOutboxMessage } from "../../src/core/machine/outbox.ts";
import type { OutboxBody } from "../../src/core/machine/state/outbox.ts";
import {
  countUtf8Bytes,
  estimateContent,
  estimateMessage,
  estimateText,
} from "../../src/core/view/estimate.ts";
import { extendView, sumViewTokens, type View } from "../../src/core/view/view.ts";
import { toViewRanges } from "../../src/core/view/view-ranges.ts";
import { assertNever } from "../../src/platform/text/assert-never.ts";
import { truncateForPreview } from "../../src/platform/text/preview.ts";
import type { AgentMessage, Usage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";
import { anyCodePoint } from "../support/any-code-point.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";
import { getRunCount } from "../support/test-depth.ts";
import { userMessage } from "./support/lines.ts";
import { expectNoOrphans } from "./support/rules.ts";
import { usageOf } from "./support/script.ts";

const RUNS = getRunCount(2000);
vi.setConfig({ testTimeout: 20_000 + RUNS * 10 });

describe("previews", () => {
  test("are cut at a whole character and end with an ellipsis [IRON-14.1-2]", () => {
    expect(truncateForPreview("hello", 10)).toBe("hello");
    expect(truncateForPreview("hello", 5)).toBe("hello");
    expect(truncateForPreview("hello", 4)).toBe("hell...");
    expect(truncateForPreview("caf\u00e9", 4)).toBe("caf...");
    expect(truncateForPreview("\u{1F980}\u{1F980}", 7)).toBe("\u{1F980}...");
  });

  test("handle an empty text, no room, a last character that fits, and a lone surrogate [IRON-14.1-2]", () => {
    expect(truncateForPreview("", 0)).toBe("");
    expect(truncateForPreview("a", 0)).toBe("...");
    expect(truncateForPreview("caf\u00e9", 5)).toBe("caf\u00e9");
    expect(truncateForPreview("\u4e16\u4e16", 3)).toBe("\u4e16...");
    expect(truncateForPreview("\ud800a", 3)).toBe("\ud800...");
  });

  test("are the longest beginning of the text that fits the limit, without a broken character [IRON-14.1-2]", () => {
    void assert(
      property(string({ unit: anyGrapheme }), nat(40), (text, max) => {
        const cut = truncateForPreview(text, max);
        if (Buffer.byteLength(text) <= max) expect(cut).toBe(text);
        else {
          const kept = cut.slice(0, -3);
          expect(cut.endsWith("...")).toBe(true);
          expect(text.startsWith(kept)).toBe(true);
          expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(max);
          expect(Buffer.from(kept).toString()).toBe(kept);
          const point = text.slice(kept.length).codePointAt(0) ?? 0;
          expect(Buffer.byteLength(kept + String.fromCodePoint(point))).toBeGreaterThan(max);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("estimates", () => {
  test("count four bytes per token, rounded up [CTX-01.1-2, X-12]", () => {
    expect(estimateText("hello")).toBe(2);
    expect(estimateText("")).toBe(0);
    expect(estimateText("four")).toBe(1);
    expect(estimateText("\u4e16\u4e16")).toBe(2);
    expect(estimateText("\u{1F980}")).toBe(1);
  });

  test("count UTF-8 bytes, also of lone surrogates [CTX-01.2]", () => {
    void assert(
      property(string({ unit: anyCodePoint }), string({ unit: anyGrapheme }), (binary, graphemes) => {
        for (const text of [binary, graphemes, `${graphemes}\ud83e`, `\udd80${graphemes}`]) {
          if (countUtf8Bytes(text) !== Buffer.byteLength(text)) throw new Error(JSON.stringify(text));
        }
      }),
      { numRuns: RUNS },
    );
    for (const text of [
      "\ud83e",
      "\udd80",
      "\ud83e\ud83e\udd80",
      "\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff",
    ]) {
      expect(countUtf8Bytes(text)).toBe(Buffer.byteLength(text));
    }
  });

  test("count the UTF-8 bytes of a long text, whatever the offset of its characters [CTX-01.2]", () => {
    const pieces = ["word ", "\u00fc", "\u4e16", "\u{1F980}", "\ud83e", "\udd80"];
    for (const piece of pieces) {
      for (let shift = 0; shift < 3; shift += 1) {
        const text = "x".repeat(shift) + piece.repeat(40_000);
        expect(countUtf8Bytes(text)).toBe(Buffer.byteLength(text));
      }
    }
  });

  test("count an image by its bytes, as between 85 and 16,000 tokens [CTX-02.3]", () => {
    const image = (bytes: number) =>
      estimateContent({ type: "image", mimeType: "image/png", data: Buffer.alloc(bytes).toString("base64") });
    expect(image(0)).toBe(85);
    expect(image(85 * 750)).toBe(85);
    expect(image(85 * 750 + 1)).toBe(86);
    expect(image(75_000)).toBe(100);
    expect(image(75_002)).toBe(101);
    expect(image(16_000 * 750)).toBe(16_000);
    expect(image(20_000_000)).toBe(16_000);
  });

  test("cover content blocks and messages [CTX-02.1-2, CTX-03.1-3]", () => {
    expect(estimateContent({ type: "thinking", thinking: "hello" })).toBe(2);
    expect(estimateContent({ type: "toolCall", id: "long id", name: "bash", arguments: { a: 1 } })).toBe(
      1 + 2 + 8,
    );
    expect(estimateContent({ type: "toolCall", id: "x", name: "bash", arguments: undefined })).toBe(
      1 + 1 + 8,
    );
    expect(estimateMessage(userMessage("hello", 0))).toBe(6);
    const text = { type: "text" as const, text: "hello" };
    expect(estimateMessage({ ...result("c"), content: [text], toolName: "search" })).toBe(2 + 2 + 8);
    expect(estimateMessage({ role: "extension", kind: "k", data: { a: 1 }, timestamp: 0 })).toBe(6);
  });

  test("count an outbox entry like the message that it becomes", () => {
    const bodies: OutboxBody[] = [
      { type: "user", message: { id: "m", text: "gr\u00fc\u00dfe", atMs: 0 } },
      { type: "notice", text: "[Agent stopped: x]" },
      { type: "result", toolCallId: "c", toolName: "search", text: "Cancelled" },
    ];
    for (const body of bodies) {
      const message = buildOutboxMessage({ position: 0, origin: "machine", atMs: 0, turn: 0, body }, "loop");
      expect(estimateBody(body)).toBe(estimateMessage(message));
    }
    expect(estimateBody({ type: "user", message: { id: "m", ref: "r", atMs: 0 } })).toBe(8196);
    expect(estimateBody({ type: "user", message: { id: "m", ref: "r", tokens: 7, atMs: 0 } })).toBe(11);
    expect(estimateBody({ type: "no-answer", stopReason: "error", errorMessage: "long" })).toBe(0);
  });
});

describe("messages of the outbox", () => {
  const entry = (body: OutboxBody) => ({ position: 3, origin: "machine" as const, atMs: 7, turn: 2, body });
  const turnId = { loopId: "l", turnIndex: 2 };

  test("a user message has the time at which it was sent, and its stored text [TYP-13.1]", () => {
    const said = entry({ type: "user", message: { id: "m", ref: "r", atMs: 5 } });
    const content = [{ type: "text", text: "stored" }];
    expect(buildOutboxMessage(said, "l", "stored")).toEqual({ role: "user", content, timestamp: 5, turnId });
  });

  test("a result created by the machine is an error [TOOL-05.1]", () => {
    const body = { type: "result" as const, toolCallId: "c", toolName: "t", text: "x" };
    expect(buildOutboxMessage(entry(body), "l")).toMatchObject({
      role: "toolResult",
      isError: true,
      timestamp: 7,
      turnId,
    });
  });

  test("a missing answer becomes an assistant message with an empty text [LOOP-24.1-2]", () => {
    const body = { type: "no-answer" as const, stopReason: "aborted" as const, errorMessage: "why" };
    expect(buildOutboxMessage(entry(body), "l")).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "" }],
      stopReason: "aborted",
      model: "unknown",
      provider: "unknown",
      usage: NO_USAGE,
      errorMessage: "why",
      timestamp: 7,
      turnId,
    });
  });
});

describe("usage", () => {
  const usage = record({
    input: nat(),
    output: nat(),
    reasoning: nat(),
    cacheRead: nat(),
    cacheWrite: nat(),
    totalTokens: nat(),
  });

  test("adds up in any order and grouping, with empty usage as the identity [R13, TYP-09.1]", () => {
    void assert(
      property(usage, usage, usage, (a: Usage, b: Usage, c: Usage) => {
        expect(addUsage(a, NO_USAGE)).toEqual(a);
        expect(addUsage(NO_USAGE, a)).toEqual(a);
        expect(addUsage(addUsage(a, b), c)).toEqual(addUsage(a, addUsage(b, c)));
        expect(addUsage(a, b)).toEqual(addUsage(b, a));
      }),
      { numRuns: RUNS },
    );
    const parts = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5, totalTokens: 6 };
    expect(addUsage(parts, parts)).toEqual({
      input: 2,
      output: 4,
      reasoning: 6,
      cacheRead: 8,
      cacheWrite: 10,
      totalTokens: 12,
    });
  });

  test("is priced in dollars per million tokens, and reasoning is not charged twice [LIM-05.1, TYP-09.2-3]", () => {
    const parts = {
      input: 1e6,
      output: 2e6,
      reasoning: 1e6,
      cacheRead: 3e6,
      cacheWrite: 4e6,
      totalTokens: 0,
    };
    expect(computeCost(parts, { input: 1, output: 10, cacheRead: 100, cacheWrite: 1000 })).toBe(
      1 + 20 + 300 + 4000,
    );
    expect(computeCost(parts, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(0);
  });

  test("has a cache hit rate that is a share of all input tokens [TYP-08]", () => {
    expect(computeCacheHitRate(NO_USAGE)).toBe(0);
    expect(computeCacheHitRate({ ...usageOf(10, 99), cacheRead: 30, cacheWrite: 60 })).toBe(0.3);
    expect(computeCacheHitRate({ ...NO_USAGE, cacheRead: 5 })).toBe(1);
  });
});

describe("views", () => {
  const grown = (entries: readonly { tokens: number; newTurn: boolean }[]): View =>
    entries.reduce<View>((view, entry, position) => extendView(view, { ...entry, position }), {
      branch: "main",
      spans: [],
    });

  test("cover all entries without gap or overlap in a few spans, and preserve tokens and turns [RIG-04.3]", () => {
    void assert(
      property(array(record({ tokens: nat(100), newTurn: boolean() }), { maxLength: 200 }), (entries) => {
        const view = grown(entries);
        expect(view.spans.length).toBeLessThanOrEqual(48);
        let at = 0;
        for (const { from, to } of view.spans) {
          expect(from).toBe(at);
          at = to;
        }
        expect(at).toBe(entries.length);
        expect(sumViewTokens(view)).toBe(entries.reduce((sum, { tokens }) => sum + tokens, 0));
        const turns = entries.filter(({ newTurn }, index) => newTurn || index === 0).length;
        expect(view.spans.reduce((sum, span) => sum + span.turns, 0)).toBe(turns);
        expect(toViewRanges(view).ranges).toEqual(
          entries.length === 0 ? [] : [{ from: 0, to: entries.length }],
        );
      }),
      { numRuns: RUNS },
    );
  });

  test("have one turn for an answer and its results, and join the oldest turns first [RIG-04.3]", () => {
    const view = grown(Array.from({ length: 120 }, (_, index) => ({ tokens: 1, newTurn: index % 2 === 0 })));
    expect(view.spans).toHaveLength(48);
    expect(view.spans[0]).toEqual({ from: 0, to: 26, turns: 13, tokens: 26 });
    expect(view.spans.slice(1).every(({ from, to }) => to - from === 2)).toBe(true);
  });

  test("stay small with a gap at their beginning too [RIG-04.3]", () => {
    let view: View = { branch: "main", spans: [{ from: 0, to: 2, turns: 1, tokens: 1 }] };
    for (let position = 10; position < 200; position++)
      view = extendView(view, { position, tokens: 1, newTurn: true });
    expect(view.spans.length).toBeLessThanOrEqual(48);
    expect(toViewRanges(view).ranges).toEqual([
      { from: 0, to: 2 },
      { from: 10, to: 200 },
    ]);
  });

  test("join only adjacent spans to ranges [RIG-04.3]", () => {
    const span = (from: number, to: number) => ({ from, to, turns: 1, tokens: 1 });
    expect(toViewRanges({ branch: "b", spans: [span(0, 2), span(2, 3), span(5, 6)] })).toEqual({
      branch: "b",
      ranges: [
        { from: 0, to: 3 },
        { from: 5, to: 6 },
      ],
    });
  });
});

const assistant = (
  ids: readonly string[],
  stopReason: "toolUse" | "error" | "aborted" = "toolUse",
): AgentMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: {} })),
  stopReason,
  model: "m",
  provider: "p",
  usage: NO_USAGE,
  timestamp: 5,
});
const result = (toolCallId: string) => ({
  role: "toolResult" as const,
  toolCallId,
  toolName: "bash",
  content: [],
  isError: false,
  timestamp: 6,
});
const entriesOf = (messages: readonly AgentMessage[]): Entry[] =>
  messages.map((message, position) => ({ position, origin: "model", message, tokens: 0 }));
const whole = (entries: readonly Entry[]) => ({ branch: "main", ranges: [{ from: 0, to: entries.length }] });

describe("materialise", () => {
  test("returns the entries in the ranges, in order of position [PHI-13a]", () => {
    const entries = entriesOf([0, 1, 2, 3, 4].map((n) => userMessage(`${n}`, 9 - n)));
    const seen = materialise(
      {
        branch: "main",
        ranges: [
          { from: 0, to: 2 },
          { from: 3, to: 4 },
        ],
      },
      entries,
    );
    expect(seen).toEqual([entries[0]?.message, entries[1]?.message, entries[3]?.message]);
  });

  test("omits failed and aborted answers and extension messages [TYP-11.3, X-09.4]", () => {
    const extension: AgentMessage = { role: "extension", kind: "k", data: 1, timestamp: 0 };
    const messages = [
      userMessage("a", 0),
      extension,
      assistant([], "error"),
      assistant([], "aborted"),
      assistant([]),
    ];
    const entries = entriesOf(messages);
    expect(materialise(whole(entries), entries)).toEqual([messages[0], messages[4]]);
  });

  test("adds an error result for an unanswered call, directly after the results of its answer [TOOL-08.3]", () => {
    const entries = entriesOf([assistant(["a", "b"]), result("b"), userMessage("next", 7), result("a")]);
    expect(materialise(whole(entries), entries)).toEqual([
      entries[0]?.message,
      result("b"),
      { ...result("a"), content: [{ type: "text", text: UNANSWERED_CALL }], isError: true, timestamp: 7 },
      entries[2]?.message,
    ]);
  });

  test("never returns an orphan, for any part of any conversation and any view [TOOL-08.1]", () => {
    const message = constantFrom("user", "answer", "failed", "result", "other", "extension");
    void assert(
      property(
        array(record({ kind: message, calls: nat(3), answers: nat(3) }), { maxLength: 20 }),
        array(record({ from: integer({ min: 0, max: 20 }), size: nat(6) }), { maxLength: 3 }),
        array(nat(19), { maxLength: 5 }),
        (script, holes, missing) => {
          let turn = 0;
          const messages = script.map(({ kind, calls, answers }): AgentMessage => {
            const ids = Array.from({ length: calls }, (_, call) => `${turn}.${call}`);
            if (kind === "answer" || kind === "failed") {
              turn++;
              const own = Array.from({ length: calls }, (_, call) => `${turn}.${call}`);
              return assistant(own, kind === "failed" ? "error" : "toolUse");
            }
            if (kind === "result") return result(`${turn}.${answers}`);
            if (kind === "other") return result(ids[0] ?? "nobody");
            if (kind === "extension") return { role: "extension", kind: "k", data: null, timestamp: 0 };
            return userMessage("u", 0);
          });
          const entries = entriesOf(messages).filter(({ position }) => !missing.includes(position));
          const ranges = holes.map(({ from, size }) => ({ from, to: from + size }));
          for (const view of [whole(entriesOf(messages)), { branch: "main", ranges }]) {
            expectNoOrphans(materialise(view, entries));
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});

test("an unhandled variant throws an error [R5]", () => {
  expect(() => assertNever({ type: "new" } as never)).toThrow('Unhandled variant: {"type":"new"}');
});
