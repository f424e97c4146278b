import { expect, test } from "vitest";
import { choosePrune } from "../../src/conversation/pruning/choose-prune.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry } from "../../src/schema/record.ts";

const user = (text: string): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp: 1,
});
const answer = (id?: string): AgentMessage => ({
  role: "assistant",
  content: id === undefined ? [] : [{ type: "toolCall", id, name: "look", arguments: {} }],
  stopReason: "toolUse",
  model: "m",
  provider: "p",
  usage: NO_USAGE,
  timestamp: 1,
});
const result = (toolCallId: string): AgentMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "look",
  content: [{ type: "text", text: "found" }],
  isError: false,
  timestamp: 1,
});
const own: AgentMessage = { role: "extension", kind: "mood", data: "calm", timestamp: 1 };

test("in a continued conversation, earlier answers and results can be pruned; messages of users and of the application cannot [LOOP-05, PRUN-01.1-2]", () => {
  const messages = [user("go"), answer("a"), result("a"), own, user("steered"), answer(), answer("b")];
  const entries = messages.map(
    (message, position): Entry => ({
      position,
      origin: message.role === "user" ? "prompt" : "model",
      message,
      tokens: 10,
    }),
  );
  const view = { branch: "main", spans: [{ from: 0, to: 7, turns: 1, tokens: 70 }] };
  const chosen = choosePrune({ view, loopFrom: 4 }, entries, 6, 1_000_000);
  if (chosen.type !== "pruned") throw new Error(chosen.reason);
  const { pruned } = chosen.request;
  const gone = [...entries.keys()].filter((at) => pruned.some(({ from, to }) => at >= from && at < to));
  const roles = gone.map((at) => messages[at]?.role);
  // A range may span user messages: they remain when the range is pruned.
  expect(new Set(roles.filter((role) => role !== "user" && role !== "extension"))).toEqual(
    new Set(["assistant", "toolResult"]),
  );
  expect(gone).toEqual(expect.arrayContaining([1, 2, 5]));
  expect(gone).not.toContain(6);
  expect(chosen.request.messages).toBe(3);
});
