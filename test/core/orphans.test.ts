import { expect, test } from "vitest";
import { materialiseAll } from "../../src/conversation/materialise.ts";
import { COMPACTION_KIND } from "../../src/conversation/message-visibility.ts";
import { findOrphan } from "../../src/conversation/orphans.ts";
import type { AgentMessage, AssistantMessage } from "../../src/schema/message.ts";
import { userMessage } from "./support/lines.ts";
import { usageOf } from "./support/script.ts";

const user = userMessage("hi", 0);
const own = (kind: string): AgentMessage => ({ role: "extension", kind, data: {}, timestamp: 0 });
const result = (id: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "bash",
  content: [],
  isError: false,
  timestamp: 0,
});
const answer = (...ids: string[]): AssistantMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "bash", arguments: {} })),
  stopReason: "toolUse",
  model: "m",
  provider: "p",
  usage: usageOf(1, 1),
  timestamp: 0,
});

test("calls followed by their results, in any order, are complete; an application's messages are ignored [CB-10.3]", () => {
  expect(findOrphan([user, answer("a", "b"), result("b"), own("note"), result("a"), user])).toBeUndefined();
});

test("a call without a result, at the end or in the middle, is reported [CB-10.3]", () => {
  expect(findOrphan([answer("a")])).toContain("call a");
  expect(findOrphan([answer("a", "b"), result("a"), user, result("b")])).toContain("call b");
});

test("a result that follows no open call is reported [CB-10.3]", () => {
  expect(findOrphan([user, result("a")])).toContain("call a");
  expect(findOrphan([answer("a"), result("a"), result("a")])).toContain("call a");
});

test("an application sees its own messages, but not the machine's", () => {
  const messages = [user, own("note"), own(COMPACTION_KIND), own("rejected-input")];
  const entries = messages.map((message, position) => ({
    position,
    origin: "prompt" as const,
    message,
    tokens: 1,
  }));
  const view = { branch: "main", ranges: [{ from: 0, to: 4 }] };
  expect(materialiseAll(view, entries)).toEqual([user, own("note")]);
});
