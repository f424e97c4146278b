import { array, constantFrom, integer, nat, oneof, record, string } from "fast-check";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import type { AgentMessage, AssistantMessage, StopReason, TurnId } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin } from "../../src/schema/record.ts";

// Conversations to compact, made by hand and at random.

const USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

export const user = (text: string, timestamp = 0): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp,
});

export function answer(text: string, calls: readonly string[] = [], timestamp = 0): AssistantMessage {
  const stopReason: StopReason = calls.length > 0 ? "toolUse" : "stop";
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  const called = calls.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: { id } }));
  return {
    role: "assistant",
    content: [...said, ...called],
    stopReason,
    model: "m",
    provider: "p",
    usage: USAGE,
    timestamp,
  };
}

export const result = (toolCallId: string, text: string, timestamp = 0): AgentMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp,
});

export const extension = (data: unknown, timestamp = 0): AgentMessage => ({
  role: "extension",
  kind: "note",
  data,
  timestamp,
});

export const lines = (count: number, word = "line") =>
  Array.from({ length: count }, (_, index) => `${word} ${index + 1}`).join("\n");

export const totalOf = (messages: readonly AgentMessage[]) =>
  messages.reduce((sum, message) => sum + estimateMessage(message), 0);

export const texts = (messages: readonly AgentMessage[]) =>
  messages.map((message) =>
    message.role === "extension"
      ? ""
      : message.content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  );

function originOf({ role }: AgentMessage): EntryOrigin {
  if (role === "user") return "prompt";
  return role === "toolResult" ? "tool" : "model";
}

/** Entries from position 0, or from `from`. */
export const entriesOf = (messages: readonly AgentMessage[], from = 0): Entry[] =>
  messages.map((message, index) => ({
    position: from + index,
    origin: originOf(message),
    message,
    tokens: estimateMessage(message),
  }));

export function inTurn(message: AgentMessage, loopId: string, turnIndex: number): AgentMessage {
  const turnId: TurnId = { loopId, turnIndex };
  return message.role === "extension" ? message : { ...message, turnId };
}

/** A loop of turns with one call each; the first begins with a prompt. */
export function loop(loopId: string, turns: number, output = "out"): AgentMessage[] {
  return Array.from({ length: turns }, (_, turn) => [
    ...(turn === 0 ? [inTurn(user(`prompt of ${loopId}`), loopId, 0)] : []),
    inTurn(answer(`turn ${turn}`, [`c${turn}`]), loopId, turn),
    inTurn(result(`c${turn}`, output), loopId, turn),
  ]).flat();
}

/** The pairs of a list, as a model reads it: a result belongs to the newest answer before it that asked for it. */
export function pairsOf(messages: readonly AgentMessage[]): { answer: number; result: number }[] {
  const pairs: { answer: number; result: number }[] = [];
  messages.forEach((message, index) => {
    if (message.role !== "toolResult") return;
    const asked = messages.findLastIndex(
      (earlier, at) =>
        at < index &&
        earlier.role === "assistant" &&
        earlier.content.some((part) => part.type === "toolCall" && part.id === message.toolCallId),
    );
    if (asked >= 0) pairs.push({ answer: asked, result: index });
  });
  return pairs;
}

const text = oneof(
  string({ maxLength: 40 }),
  nat(120).map((count) => lines(count)),
  nat(900).map((length) => "x".repeat(length)),
);
const callId = constantFrom("a", "b", "c");

/** Any messages in any order: orphans, ids that repeat, results far from their answers. The time stamp is the index. */
export const anyMessages = array(
  oneof(
    text.map((words) => user(words)),
    record({ words: text, calls: array(callId, { maxLength: 3 }) }).map(({ words, calls }) =>
      answer(words, calls),
    ),
    record({ id: callId, words: text }).map(({ id, words }) => result(id, words)),
    string({ maxLength: 20 }).map((data) => extension(data)),
  ),
  { maxLength: 24 },
).map((messages) => messages.map((message, timestamp) => ({ ...message, timestamp })));

/** What vendors accept: each answer followed by the results of its calls, in order. */
export const soundMessages = array(
  oneof(
    text.map((words) => [user(words)]),
    record({ words: text, outputs: array(text, { maxLength: 3 }) }).map(({ words, outputs }) => {
      const calls = outputs.map((_, index) => `fc-${index}`);
      return [answer(words, calls), ...outputs.map((output, index) => result(`fc-${index}`, output))];
    }),
  ),
  { maxLength: 14 },
).map((groups) => groups.flat().map((message, timestamp) => ({ ...message, timestamp })));

export const budgets = oneof(integer({ min: -5, max: 60 }), nat(3000));
