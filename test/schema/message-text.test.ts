import { expect, test } from "vitest";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { getMessageText } from "../../src/schema/message-text.ts";

test("the text of a message is that of its text parts, without anything between them", () => {
  const content: AssistantMessage["content"] = [
    { type: "thinking", thinking: "Which?" },
    { type: "text", text: "A fact" },
    { type: "vendor", kind: "citation", data: {} },
    { type: "text", text: " and its source." },
    { type: "toolCall", id: "1", name: "look", arguments: {} },
  ];
  expect(getMessageText({ role: "user", content, timestamp: 0 })).toBe("A fact and its source.");
  expect(getMessageText({ role: "extension", kind: "note", data: "text" })).toBe("");
});
