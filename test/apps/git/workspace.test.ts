import { describe, expect, test } from "vitest";
import { listEarlierResults } from "../../../src/activities/tool/earlier-results.ts";
import { createGitTools } from "../../../src/apps/git/index.ts";
import type { ToolResultMessage } from "../../../src/schema/message.ts";
import type { EarlierResult, ExecutableTool } from "../../../src/tools/tool.ts";
import { callTool, createContext } from "../../tools/tool-context.ts";

const tool = createGitTools().main.find(({ name }) => name === "workspace") as ExecutableTool;

/** A conversation, of which each call sees the results before it. */
class Conversation {
  readonly results: EarlierResult[] = [];

  async call(parameters: object, key = `${this.results.length}`): Promise<string> {
    const earlierResults = async () => this.results;
    const output = await callTool(
      tool,
      parameters,
      createContext("/", { idempotencyKey: key, earlierResults }),
    );
    const content = output.content.filter((part) => part.type === "text");
    this.results.push({ toolCallId: key, content, details: output.details });
    return content.map(({ text }) => text).join("");
  }
}

describe("the workspace of an agent", () => {
  test("a task is completed and removed by its id, and an unknown one is refused", async () => {
    const conversation = new Conversation();
    const text = await conversation.call({ action: "add_task", text: "read" });
    const [, id = ""] = /\] ([0-9a-f]{6}): read/.exec(text) ?? [];
    expect(await conversation.call({ action: "complete_task", id })).toBe(`[x] ${id}: read`);
    await expect(conversation.call({ action: "remove", id: "000000" })).rejects.toThrow(
      "there is no note or task",
    );
    expect(await conversation.call({ action: "remove", id })).toBe("No notes and no tasks yet.");
  });

  test("a second execution of a call gives the same id", async () => {
    const [one, other] = [new Conversation(), new Conversation()];
    const parameters = { action: "add_note", text: "a" };
    expect(await one.call(parameters, "key")).toBe(await other.call(parameters, "key"));
    expect(await one.call(parameters, "key 2")).not.toBe(await other.call(parameters, "key 3"));
  });

  test("a note needs a text", async () => {
    await expect(new Conversation().call({ action: "add_note", text: " " })).rejects.toThrow(
      "text: required",
    );
  });
});

test("the earlier results of a tool are its own, without those that failed", () => {
  const result = (toolName: string, fields: Partial<ToolResultMessage> = {}) => ({
    message: {
      role: "toolResult" as const,
      toolCallId: toolName,
      toolName,
      content: [],
      isError: false,
      timestamp: 0,
      ...fields,
    },
  });
  const entries = [
    { message: { role: "user" as const, content: [], timestamp: 0 } },
    result("workspace", { details: 1 }),
    result("other", { details: 2 }),
    result("workspace", { details: 3, isError: true }),
    result("notes", { details: 4 }),
    result("workspace"),
  ];
  expect(listEarlierResults({ name: "workspace", aliases: ["notes"] }, entries)).toEqual([
    { toolCallId: "workspace", content: [], details: 1 },
    { toolCallId: "notes", content: [], details: 4 },
    { toolCallId: "workspace", content: [] },
  ]);
});
