import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { announcesMissingCall } from "../../src/activities/model/answer-digest.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { TOOL_INTENT_NUDGE } from "../../src/core/machine/tool-intent.ts";
import type { Logger } from "../../src/platform/log.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const ANNOUNCING = "Let me search for that file.";
const NUDGE = `user: ${TOOL_INTENT_NUDGE}`;

let stage: TestEnvironment;
const logged: { readonly level: string; readonly words: string; readonly session?: string }[] = [];

beforeAll(async () => {
  const line = (level: string) => (facts: object, words: string) =>
    void logged.push({ level, words, ...facts });
  const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  stage = await openTestEnvironment({ log: log as unknown as Logger });
});
afterAll(() => stage.close());

test("three texts that announce a call: two nudges, then the third is the answer [IRON-02.2, IRON-10.1, IRON-10.3, IRON-11.3]", async () => {
  const session = stage.session({
    replies: [{ text: ANNOUNCING }, { text: ANNOUNCING }, { text: ANNOUNCING }],
    agent: { tools: ["read_file"] },
  });
  const result = await session.run("Find it");
  expect(result).toMatchObject({
    outcome: { type: "answered", stopReason: "stop" },
    text: ANNOUNCING,
    position: 5,
  });
  expect(await session.readConversation()).toEqual([
    "user: Find it",
    `assistant: ${ANNOUNCING}`,
    NUDGE,
    `assistant: ${ANNOUNCING}`,
    NUDGE,
    `assistant: ${ANNOUNCING}`,
  ]);
  expect((await session.readEntries()).map(({ origin }) => origin)).toEqual([
    "prompt",
    "model",
    "machine",
    "model",
    "machine",
    "model",
  ]);
  expect(session.listSeenMessages(1).at(-1)).toContain("you did not include any tool calls");
  expect(session.listRequests()).toHaveLength(3);
});

thoroughTest(
  "each answer is a line of the debug log, without its text, and a nudge one of the info log [IRON-15.1-2]",
  async () => {
    const session = stage.session({
      replies: [
        { text: "Look.", toolCalls: [{ name: "list_files", arguments: {} }] },
        { toolCalls: [{ name: "list_files", arguments: {} }] },
        { text: ANNOUNCING },
        { text: "Done. <suggestions>more</suggestions>" },
      ],
      agent: { tools: ["list_files"] },
    });
    await session.run("Find it");
    const lines = logged.filter((line) => line.session === session.id);
    expect(lines).toMatchObject([
      { level: "debug", turn: 0, tools: ["list_files"], hasContent: true },
      { level: "debug", turn: 1, tools: ["list_files"], hasContent: false },
      { level: "debug", turn: 2, length: ANNOUNCING.length, hasSuggestions: false },
      { level: "info", turn: 3, words: expect.stringContaining("nudged") },
      { level: "debug", turn: 3, length: 37, hasSuggestions: true },
    ]);
    expect(JSON.stringify(lines)).not.toContain("search for that file");
  },
);

thoroughTest("a nudge that is followed by the call [IRON-10.3]", async () => {
  const session = stage.session({
    replies: [
      { text: ANNOUNCING },
      { toolCalls: [{ name: "bash", arguments: { command: "echo found" } }] },
      { text: "There it is." },
    ],
    agent: { tools: ["bash"], permissions: { otherwise: "allow" } },
  });
  expect(await session.run("Find it")).toMatchObject({ text: "There it is." });
  const told = await session.readConversation();
  expect(told[2]).toBe(NUDGE);
  expect(told[4]).toContain("found");
});

thoroughTest.each([
  ["nudges are switched off", { tools: ["read_file"], nudges: { enabled: false } }],
  ["the agent has no tools", {}],
])("none where %s [IRON-10.1]", async (_, agent) => {
  const session = stage.session({ replies: [{ text: ANNOUNCING }], agent });
  expect(await session.run("Find it")).toMatchObject({ text: ANNOUNCING, position: 1 });
  expect(session.listRequests()).toHaveLength(1);
});

thoroughTest("none for an answer that was cut short, or that announces nothing [IRON-10.2]", async () => {
  const agent = { tools: ["read_file"] };
  for (const reply of [{ text: ANNOUNCING, stop: "length" as const }, { text: "It is in a.txt." }]) {
    const session = stage.session({ replies: [reply], agent });
    expect(await session.run("Find it")).toMatchObject({ text: reply.text, position: 1 });
  }
});

describe("the announcement verdict in the model step's result", () => {
  const answer = (more: Partial<AssistantMessage> = {}): AssistantMessage => ({
    role: "assistant",
    content: [{ type: "text", text: ANNOUNCING }],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp: 0,
    ...more,
  });
  const on = { nudges: { enabled: true, max: 2 } };

  test("is true only for a complete text without calls when tools are offered [IRON-10.1]", () => {
    const call = { type: "toolCall" as const, id: "c", name: "read_file", arguments: {} };
    expect(announcesMissingCall(answer(), on, 1)).toBe(true);
    expect(announcesMissingCall(answer({ content: [...answer().content, call] }), on, 1)).toBe(false);
    expect(announcesMissingCall(answer({ stopReason: "length" }), on, 1)).toBe(false);
    expect(announcesMissingCall(answer(), on, 0)).toBe(false);
  });

  thoroughTest("is false when nudges are off [IRON-10.1]", () => {
    expect(announcesMissingCall(answer(), { nudges: { enabled: false, max: 2 } }, 1)).toBe(false);
  });
});
