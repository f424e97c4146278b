import { expect, test } from "vitest";
import type { MessageInput } from "../../src/workflows/messages.ts";
import { toInboundMessage } from "../../src/workflows/run-input.ts";

test.each([
  ["an object of 2 KiB as JSON", { x: "y".repeat(2040) }, true],
  ["a larger object", { x: "y".repeat(2041) }, false],
  ["a text", "r-17", false],
  ["null", null, false],
])("metadata in a message from any program: %s; the text is always kept", (_, metadata, isKept) => {
  const input = { id: "m", text: "Go", metadata } as MessageInput;
  expect(toInboundMessage(input, 5)).toEqual({
    id: "m",
    text: "Go",
    atMs: 5,
    ...(isKept ? { metadata } : {}),
  });
});

test.each([
  [
    "a reference to parts",
    { id: "m", ref: "h", parts: true, tokens: 3 },
    { ref: "h", parts: true, tokens: 3 },
  ],
  ["a text that claims parts", { id: "m", text: "Go", parts: true }, { text: "Go" }],
  ["another value for parts", { id: "m", ref: "h", parts: "yes" }, { ref: "h" }],
])("a message from any program: %s", (_, input, expected) => {
  expect(toInboundMessage(input as MessageInput, 5)).toEqual({ id: "m", atMs: 5, ...expected });
});
