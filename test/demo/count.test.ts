import { expect, test } from "vitest";
// @ts-expect-error: the demo is plain JavaScript
import * as plainCount from "../../demo/count.mjs";

type Count = { lost: number; duplicated: number };
type Entries = readonly { position: number; messageId?: string; message: object }[];
type Sent = readonly { id: string; text: string }[];

const { countAnswers, countMessages, countModelMessages, countUnsafe } = plainCount as {
  countMessages(counted: { sent: Sent; entries: Entries; length: number; forked: number }): Count;
  countModelMessages(counted: { sent: Sent; entries: Entries; body: object }): Count;
  countUnsafe(lines: readonly string[], asked: number): number;
  countAnswers(ledger: object): { paid: number; repaid: number; again: { turn: number; before: string }[] };
};

const SENT: Sent = [
  { id: "m1", text: "repair it" },
  { id: "m2", text: "and note it" },
];

function conversation(): { position: number; messageId?: string; message: Record<string, unknown> }[] {
  const call = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: {} });
  return [
    { position: 0, messageId: "m1", message: { role: "user", content: [] } },
    { position: 1, message: { role: "assistant", content: [call("a"), call("b")] } },
    { position: 2, message: { role: "toolResult", toolCallId: "a" } },
    { position: 3, message: { role: "toolResult", toolCallId: "b" } },
    { position: 4, messageId: "m2", message: { role: "user", content: [] } },
    { position: 5, message: { role: "assistant", content: [] } },
  ];
}

const held = (entries: Entries, more: { length?: number; forked?: number } = {}) =>
  countMessages({ sent: SENT, entries, length: 6, forked: 0, ...more });

test("a complete conversation has no loss and no duplicate", () => {
  expect(held(conversation())).toEqual({ lost: 0, duplicated: 0 });
});

test("a missing message, result or position counts as lost", () => {
  const entries = conversation();
  expect(held(entries.filter(({ messageId }) => messageId !== "m2"))).toEqual({ lost: 2, duplicated: 0 });
  expect(held(entries.filter(({ position }) => position !== 3))).toEqual({ lost: 2, duplicated: 0 });
  expect(held(entries, { length: 8 })).toEqual({ lost: 2, duplicated: 0 });
});

test("a repeated message, result or position counts as duplicated", () => {
  const entries = conversation();
  expect(held([...entries, entries[0]!])).toEqual({ lost: 0, duplicated: 2 });
  const again = { ...entries[4]!, position: 6 };
  expect(held([...entries, again], { length: 7 })).toEqual({ lost: 0, duplicated: 1 });
  const result = { position: 6, message: { role: "toolResult", toolCallId: "a" } };
  expect(held([...entries.slice(0, 4), result, ...entries.slice(4)], { length: 7 })).toEqual({
    lost: 0,
    duplicated: 1,
  });
  expect(held(entries, { forked: 3 })).toEqual({ lost: 0, duplicated: 3 });
});

test("the messages that the model received are compared with those that were sent", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const use = (id: string) => ({ type: "tool_use", id });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id });
  const shown = (...blocks: object[]) =>
    countModelMessages({ sent: SENT, entries: conversation(), body: { messages: [{ content: blocks }] } });
  const whole = [text("repair it"), use("a"), use("b"), result("a"), result("b"), text("and note it")];
  expect(shown(...whole)).toEqual({ lost: 0, duplicated: 0 });
  expect(shown(...whole.slice(0, -1))).toEqual({ lost: 1, duplicated: 0 });
  expect(shown(...whole.slice(1))).toEqual({ lost: 1, duplicated: 0 });
  expect(shown(...whole, text("repair it"), result("a"))).toEqual({ lost: 0, duplicated: 2 });
  expect(shown(...whole.filter((_, index) => index !== 3))).toEqual({ lost: 1, duplicated: 0 });
});

test("an unsafe command may run once for each call that requested it", () => {
  expect(countUnsafe(["call 1"], 1)).toBe(0);
  expect(countUnsafe(["call 1", "call 2"], 2)).toBe(0);
  expect(countUnsafe(["call 1", "call 1"], 2)).toBe(1);
  expect(countUnsafe(["call 1", "call 2"], 1)).toBe(1);
});

test("each further request of a turn states what happened to the one before", () => {
  const request = (turn: number, outcome: string) => ({ conversation: "c", turn, outcome });
  const requests = [request(0, "answered"), request(1, "aborted-by-client"), request(1, "answered")];
  expect(countAnswers({ answersPaid: 2, answersRepaid: 0, requests })).toEqual({
    paid: 2,
    repaid: 0,
    again: [{ turn: 1, before: "aborted-by-client" }],
  });
});
