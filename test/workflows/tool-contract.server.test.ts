import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ToolResultMessage } from "../../src/schema/message.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { stopSignal } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { watchLiveOutput } from "./support/live-output.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";
import { recordWarnings } from "./support/warnings.ts";

const UPDATES = 3000;

/** Gives everything that a result can hold. */
const report = defineTool({
  name: "report",
  description: "Reports",
  inputSchema: z.object({}),
  execute: () => ({
    content: [{ type: "text", text: "WORDS-FOR-THE-MODEL" }],
    details: { secretly: ["DETAILS-FOR-PEOPLE", { nested: null }] },
    childLoopId: "child.sub.1",
  }),
});

/** Reports as much as it can, as fast as it can, before it ends. */
const talk = defineTool({
  name: "talk",
  description: "Talks",
  inputSchema: z.object({}),
  execute: (_, { onUpdate: update, onProgress: progress }) => {
    progress("LINE-OF-PROGRESS");
    for (let count = 0; count < UPDATES; count += 1) update(`PART-${count};`);
    return "said";
  },
});

/** Waits for its end, and remembers the signals that it received. */
const signals: { session: string; signal: AbortSignal }[] = [];
const wait = defineTool({
  name: "wait",
  description: "Waits",
  inputSchema: z.object({ session: z.string() }),
  execute: ({ session }, { signal }) =>
    new Promise<string>((_, reject) => {
      signals.push({ session, signal });
      signal.addEventListener("abort", () => reject(new Error("ended")), { once: true });
    }),
});

const { log, warnings } = recordWarnings();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [report, talk, wait], log });
});
afterAll(() => stage.close());

async function resultsOf(session: TestSession): Promise<ToolResultMessage[]> {
  const messages = (await session.readEntries()).map(({ message }) => message);
  return messages.filter((message): message is ToolResultMessage => message.role === "toolResult");
}

function toolsIn(session: TestSession, request = 0): string[] {
  const tools = (session.listRequests()[request]?.body?.["tools"] ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}

thoroughTest(
  "a result's content reaches the model; its details and a child's loop enter the record, and go no further [TOOL-03.1-2]",
  async () => {
    const session = stage.session({
      replies: [
        {
          toolCalls: [
            { name: "report", arguments: {} },
            { name: "list_files", arguments: {} },
          ],
        },
        { text: "Done." },
      ],
      agent: { tools: ["report", "list_files"] },
    });
    await session.run("Go");
    const [reported, listed] = await resultsOf(session);
    expect(reported).toMatchObject({
      content: [{ type: "text", text: "WORDS-FOR-THE-MODEL" }],
      details: { secretly: ["DETAILS-FOR-PEOPLE", { nested: null }] },
      childLoopId: "child.sub.1",
    });
    expect(listed).toHaveProperty("details");
    expect(listed).not.toHaveProperty("childLoopId");
    const sent = JSON.stringify(session.listRequests()[1]?.body);
    expect(sent).toContain("WORDS-FOR-THE-MODEL");
    expect(sent).not.toContain("DETAILS-FOR-PEOPLE");
    expect(sent).not.toContain("child.sub.1");
    const ends = (await session.readEvents()).flatMap(({ body }) =>
      body.type === "ToolExecutionEnd" ? [[body.toolName, body.childLoopId]] : [],
    );
    expect(Object.fromEntries(ends)).toEqual({ report: "child.sub.1", list_files: undefined });
  },
);

describe("what a tool reports while it runs", () => {
  async function talked() {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "talk", arguments: {} }] }, { text: "Done." }],
      agent: { tools: ["talk"] },
    });
    const shown = watchLiveOutput(stage, session);
    await session.run("Go");
    const deltas = await shown.all();
    const calls = (await session.readEvents()).flatMap(({ sequence, body }) =>
      body.type === "ToolExecutionEnd" ? [{ sequence, toolCallId: body.toolCallId }] : [],
    );
    const end = calls[0] ?? { sequence: -1, toolCallId: "" };
    const ended = deltas.findIndex(({ body }) => body.type === "recorded" && body.sequence >= end.sequence);
    expect(ended).toBeGreaterThan(0);
    const later = JSON.stringify(session.listRequests()[1]?.body);
    return { deltas, ended, later, place: { toolCallId: end.toolCallId, toolName: "talk" } };
  }

  thoroughTest(
    "partial output reaches readers of live output, however much, before the end, and never the model [TOOL-10.1-3]",
    async () => {
      const { deltas, ended, later, place } = await talked();
      const parts = deltas.flatMap((delta, index) =>
        delta.body.type === "tool-output" ? [{ index, body: delta.body, loopId: delta.loopId }] : [],
      );
      expect(parts.map(({ body }) => body.text).join("")).toBe(
        Array.from({ length: UPDATES }, (_, count) => `PART-${count};`).join(""),
      );
      for (const { body } of parts) expect(body).toMatchObject(place);
      expect(parts.every(({ index }) => index < ended)).toBe(true);
      expect(deltas.some(({ body }) => body.type === "dropped")).toBe(false);
      expect(later).toContain("said");
      expect(later).not.toContain("PART-");
    },
  );

  thoroughTest(
    "a line of progress reaches readers of live output unchanged, with its call [TOOL-11]",
    async () => {
      const { deltas, ended, later, place } = await talked();
      const lines = deltas.flatMap(({ body }, index) => (body.type === "progress" ? [{ body, index }] : []));
      expect(lines.map(({ body }) => body)).toEqual([
        { type: "progress", ...place, text: "LINE-OF-PROGRESS" },
      ]);
      expect(lines[0]?.index).toBeLessThan(ended);
      expect(later).not.toContain("LINE-OF-PROGRESS");
    },
  );
});

describe("stop reaches every call at once [TOOL-12.2]", () => {
  for (const [name, toolStrategy, atOnce, declare] of [
    ["parallel", { type: "parallel" }, 3, test],
    ["batches of two", { type: "batched", size: 2 }, 2, thoroughTest],
    ["one by one", { type: "sequential" }, 1, thoroughTest],
  ] as const)
    declare(name, async () => {
      const session = stage.session({ agent: { tools: ["wait"], toolStrategy } });
      const waiting = { name: "wait", arguments: { session: session.id } };
      stage.model.script({
        conversations: [
          {
            match: ({ conversation }) => conversation === session.id,
            replies: [{ toolCalls: [waiting, waiting, waiting] }, { text: "Never." }],
          },
        ],
      });
      const given = () => signals.filter((one) => one.session === session.id).map(({ signal }) => signal);
      await session.start("Go");
      await eventually(() => given().length === atOnce);
      expect(new Set(given()).size).toBe(atOnce);
      expect(given().some(({ aborted }) => aborted)).toBe(false);
      await session.handle.signal(stopSignal, "enough");
      expect(await session.readResult()).toMatchObject({ outcome: { type: "stopped" } });
      expect(given()).toHaveLength(atOnce);
      expect(given().every(({ aborted }) => aborted)).toBe(true);
      const results = await resultsOf(session);
      expect(results).toHaveLength(3);
      for (const { isError, content } of results) {
        expect([isError, content]).toEqual([true, [{ type: "text", text: "Cancelled" }]]);
      }
      expect(session.listRequests()).toHaveLength(1);
    });
});

test("file and shell tools work in the agent's workspace [TOOL-18]", async () => {
  const workspace = join(stage.home, "its-own");
  await mkdir(workspace);
  const calls: [string, Record<string, unknown>][] = [
    ["write_file", { path: "a.txt", content: "one\n" }],
    ["edit_file", { path: "a.txt", old_text: "one", new_text: "two" }],
    ["read_file", { path: "a.txt" }],
    ["list_files", {}],
    ["search", { pattern: "TWO" }],
    ["bash", { command: "pwd; cat a.txt" }],
  ];
  const session = stage.session({
    replies: [{ toolCalls: calls.map(([name, given]) => ({ name, arguments: given })) }, { text: "Done." }],
    agent: { workspace, toolStrategy: { type: "sequential" }, tools: calls.map(([name]) => name) },
  });
  await session.run("Go");
  expect((await session.readConversation()).slice(2, -1)).toEqual([
    "toolResult: Wrote 4 bytes to a.txt",
    "toolResult: Replaced 1 line(s) with 1 line(s) in a.txt",
    "toolResult: [1 lines]\n   1 | two",
    "toolResult: a.txt",
    "toolResult: a.txt:1:two",
    `toolResult: Exit code: 0\n${workspace}\ntwo\n`,
  ]);
  expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("two\n");
});

thoroughTest(
  "both spellings of a tool's name are accepted; an unknown name is left out with a warning [X-17]",
  async () => {
    const session = stage.session({
      replies: [
        { toolCalls: [{ name: "write_file", arguments: { path: "x17", content: "1" } }] },
        { text: "Done." },
      ],
      agent: { tools: ["file_read", "file_write", "read_file", "raed_file"] },
    });
    const before = warnings.length;
    await session.run("Go");
    expect(toolsIn(session)).toEqual(["read_file", "write_file"]);
    expect(await readFile(join(stage.home, "x17"), "utf8")).toBe("1");
    expect(warnings.slice(before).map(({ text }) => text)).toEqual([
      'Unknown tool "raed_file": did you mean "read_file"?',
    ]);
  },
);

test("the built-in tools have the options that the worker received", async () => {
  const narrow = await openTestEnvironment({ builtInTools: { bash: { denyPatterns: ["curl"] } } });
  try {
    const session = narrow.session({
      replies: [{ toolCalls: [{ name: "bash", arguments: { command: "curl x" } }] }, { text: "Done." }],
      agent: { tools: ["bash"] },
    });
    await session.run("Go");
    expect((await session.readConversation())[2]).toBe(
      "toolResult: Command blocked by safety policy: contains 'curl'",
    );
  } finally {
    await narrow.close();
  }
});
