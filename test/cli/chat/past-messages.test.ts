import { expect, test } from "vitest";
import { selectLastTurns, toPastEvents } from "../../../src/apps/cli/chat/past-messages.ts";
import type { Entry } from "../../../src/client/index.ts";

let position = 0;
function entry(origin: Entry["origin"], message: object, loopId = "loop-1"): Entry {
  position += 1;
  return { position, origin, tokens: 1, message: { turnId: { loopId, turnIndex: 0 }, ...message } } as Entry;
}
const prompt = (text: string, loopId?: string) =>
  entry("prompt", { role: "user", content: [{ type: "text", text }] }, loopId);
const says = (text: string, loopId?: string) =>
  entry("model", { role: "assistant", content: [{ type: "text", text }] }, loopId);
const steers = (text: string) => entry("steering", { role: "user", content: [{ type: "text", text }] });

test("the last turns begin with a prompt, and have everything that followed", () => {
  const all = [
    prompt("one"),
    says("1"),
    prompt("two"),
    steers("faster"),
    says("2"),
    prompt("three"),
    says("3"),
  ];
  expect(selectLastTurns(all, 2, undefined)).toEqual(all.slice(2));
  expect(selectLastTurns(all, 9, undefined)).toEqual(all);
  expect(selectLastTurns(all, 0, undefined)).toEqual([]);
  // Of a turn whose prompt was not read, what was read is displayed.
  expect(selectLastTurns(all.slice(3, 5), 2, undefined)).toEqual(all.slice(3, 5));
});

test("the loop that runs is left to whoever follows it", () => {
  const all = [prompt("one"), says("1"), prompt("two", "loop-2"), says("2", "loop-2")];
  expect(selectLastTurns(all, 3, "loop-2")).toEqual(all.slice(0, 2));
});

test("a call is displayed with its arguments and its result; an application's own message is not displayed", () => {
  const call = { type: "toolCall", id: "call-1", name: "bash", arguments: { command: "ls" } };
  const output = [{ type: "text", text: "files" }];
  const events = toPastEvents([
    entry("prompt", { role: "extension", kind: "note", data: {} }),
    entry("model", { role: "assistant", content: [call] }),
    entry("tool", {
      role: "toolResult",
      toolCallId: "call-1",
      toolName: "bash",
      content: output,
      isError: true,
    }),
  ]);
  expect(events).toMatchObject([
    { type: "MessageEnd", message: { role: "assistant" } },
    { type: "ToolExecutionStart", toolCallId: "call-1", toolName: "bash", args: { command: "ls" } },
    { type: "ToolExecutionEnd", toolCallId: "call-1", result: { content: output }, isError: true },
  ]);
});
