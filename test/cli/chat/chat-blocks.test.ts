import { expect, test } from "vitest";
import {
  addNotice,
  type ChatBlock,
  type ChatBlocks,
  MAX_BLOCKS,
  NO_BLOCKS,
  stepBlocks,
} from "../../../src/apps/cli/chat/chat-blocks.ts";
import type { AgentEvent } from "../../../src/client/index.ts";
import type { AssistantMessage } from "../../../src/schema/message.ts";

const loopId = "loop";
const call = { loopId, toolCallId: "call-1", toolName: "bash" };
const TEXT = { type: "text" as const, text: "half" };

function answer(content: AssistantMessage["content"]): AssistantMessage {
  return {
    role: "assistant",
    content,
    stopReason: "stop",
    model: "m",
    provider: "local",
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    timestamp: 0,
  } as AssistantMessage;
}

const update = (text: string): AgentEvent =>
  ({ type: "MessageUpdate", loopId, message: answer([{ type: "text", text }]) }) as AgentEvent;
const ended = (message: object): AgentEvent => ({ type: "MessageEnd", loopId, message }) as AgentEvent;
const result = (text: string, isError = false): AgentEvent =>
  ({
    type: "ToolExecutionEnd",
    ...call,
    result: { content: [{ type: "text", text }] },
    isError,
  }) as AgentEvent;

function play(...events: readonly AgentEvent[]): ChatBlocks {
  return events.reduce((chat, event) => stepBlocks(chat, event, 1_000), NO_BLOCKS);
}
const withoutNumbers = ({ blocks }: ChatBlocks) => blocks.map(({ number: _, ...block }: ChatBlock) => block);

test("an answer has one block from its first piece to its recorded message", () => {
  const live = play(update("he"), update("hello"));
  expect(live.blocks).toHaveLength(1);
  const recorded = stepBlocks(live, ended(answer([{ type: "text", text: "hello!" }])));
  expect(withoutNumbers(recorded)).toEqual([
    { type: "answer", loopId, pieces: [{ type: "text", text: "hello!" }], isComplete: true },
  ]);
  // The next answer has a block of its own.
  expect(stepBlocks(recorded, update("and")).blocks).toHaveLength(2);
});

test("an answer that is only calls leaves no block, and one that was cut off stays", () => {
  const calls = [{ type: "toolCall" as const, id: "call-1", name: "bash", arguments: {} }];
  const writing = play({
    type: "MessageUpdate",
    loopId,
    message: answer([{ ...calls[0], arguments: '{"comm' } as never]),
  } as AgentEvent);
  expect(writing.blocks).toMatchObject([{ pieces: [{ type: "call", name: "bash", chars: 6 }] }]);
  expect(stepBlocks(writing, ended(answer(calls))).blocks).toEqual([]);
  const stopped = play(update("half"), {
    type: "AgentEnd",
    loopId,
    outcome: { type: "stopped", reason: "enough" },
  } as AgentEvent);
  expect(withoutNumbers(stopped)).toEqual([
    { type: "answer", loopId, pieces: [TEXT], isComplete: true },
    { type: "notice", tone: "warning", text: "stopped: enough" },
  ]);
});

test("a call gathers its output while it runs, and has its result at the end", () => {
  const start = { type: "ToolExecutionStart", ...call, args: { command: "ls" } } as AgentEvent;
  const part = {
    type: "ToolExecutionUpdate",
    ...call,
    partialResult: { content: [{ type: "text", text: "a\n" }] },
  } as AgentEvent;
  const running = play(start, part, part);
  expect(running.blocks).toMatchObject([
    { type: "tool", name: "bash", summary: "ls", state: "running", output: { head: "a\na\n", lines: 2 } },
  ]);
  const done = stepBlocks(running, result("Exit code: 0"), 3_000);
  expect(done.blocks).toMatchObject([
    { state: "done", output: { head: "Exit code: 0" }, startedAtMs: 1_000, endedAtMs: 3_000 },
  ]);
  // A later turn may use the id again.
  expect(play(start, result("no", true), start).blocks).toMatchObject([
    { state: "failed" },
    { state: "running" },
  ]);
});

test("a result whose call was not observed has a block, and blocks that do not change stay the same objects", () => {
  const before = play(update("one"), ended(answer([TEXT])));
  const after = stepBlocks(before, result("late"));
  expect(after.blocks.at(-1)).toMatchObject({ type: "tool", state: "done", name: "bash" });
  expect(after.blocks[0]).toBe(before.blocks[0]);
});

test("the oldest blocks leave a long conversation, and numbers are never used again", () => {
  let chat = NO_BLOCKS;
  for (let index = 0; index < 3 * MAX_BLOCKS; index += 1) {
    chat = addNotice(chat, `notice ${index}`, "info");
    expect(chat.blocks.length).toBeLessThanOrEqual(MAX_BLOCKS);
  }
  const numbers = chat.blocks.map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.at(-1)).toBe(3 * MAX_BLOCKS - 1);
});
