import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
let running = 0;
let most = 0;
const order: string[] = [];

/** Reports how many of its kind run beside it. */
const meter = defineTool({
  name: "meter",
  description: "Waits for its siblings",
  inputSchema: z.object({ label: z.string(), beside: z.number() }),
  replay: "pure",
  execute: async ({ label, beside }) => {
    running += 1;
    most = Math.max(most, running);
    order.push(label);
    const until = performance.now() + 3000;
    while (running < beside && performance.now() < until) await new Promise(setImmediate);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running -= 1;
    return `metered ${label}`;
  },
});

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [meter] });
});
afterAll(() => stage.close());

function meters(count: number, beside: number) {
  most = 0;
  order.length = 0;
  return Array.from({ length: count }, (_, index) => ({
    name: "meter",
    arguments: { label: `m${index}`, beside },
  }));
}

test("one prompt, one answer: result, conversation and events (LOOP-01.1, LOOP-02.4, LOOP-03.1) [TMP-01.1, TEST-06.1]", async () => {
  const session = stage.session({ replies: [{ text: "Good day." }] });
  const result = await session.run("Say hello");
  expect(result).toMatchObject({
    session: session.id,
    outcome: { type: "answered", stopReason: "stop" },
    branch: "main",
    text: "Good day.",
    position: 1,
  });
  expect(await session.readConversation()).toEqual(["user: Say hello", "assistant: Good day."]);
  expect(await session.readEventTypes()).toEqual([
    "AgentStart",
    "TurnStart",
    "MessageStart",
    "MessageEnd",
    "MessageStart",
    "MessageEnd",
    "TurnEnd",
    "AgentEnd",
  ]);
});

test("real tools in parallel: all at once, results in call order (TOOL-07.1, TOOL-08.1-2, LOOP-17) [TEST-06.2, TEST-11]", async () => {
  await writeFile(join(stage.home, "a.txt"), "alpha\n");
  const calls = [
    ...meters(3, 3),
    { name: "bash", arguments: { command: "echo from-bash" } },
    { name: "read_file", arguments: { path: "a.txt" } },
  ];
  const session = stage.session({
    replies: [{ toolCalls: calls }, { text: "Done." }],
    agent: { tools: ["meter", "bash", "read_file"] },
  });
  await session.run("Use tools");
  expect(most).toBe(3);
  const results = (await session.readConversation()).filter((line) => line.startsWith("toolResult"));
  expect(results).toHaveLength(5);
  expect(results.slice(0, 3)).toEqual(["m0", "m1", "m2"].map((label) => `toolResult: metered ${label}`));
  expect(results[3]).toContain("from-bash");
  expect(results[4]).toContain("alpha");
  expect(session.listSeenMessages(1).slice(-5).join("\n")).toMatch(
    /m0[\s\S]*m1[\s\S]*m2[\s\S]*from-bash[\s\S]*alpha/,
  );
});

thoroughTest("tools in batches: never more than the batch at once (TOOL-07.3-4)", async () => {
  const session = stage.session({
    replies: [
      {
        toolCalls: meters(5, 2).map((call, i) =>
          i < 4 ? call : { ...call, arguments: { label: "m4", beside: 1 } },
        ),
      },
      { text: "Done." },
    ],
    agent: { tools: ["meter"], toolStrategy: { type: "batched", size: 2 } },
  });
  await session.run("Use tools");
  expect(most).toBe(2);
  expect([order.slice(0, 2).sort(), order.slice(2, 4).sort(), order.slice(4)]).toEqual([
    ["m0", "m1"],
    ["m2", "m3"],
    ["m4"],
  ]);
});

thoroughTest("tools one by one, in order (TOOL-07.2, TOOL-07.4)", async () => {
  const session = stage.session({
    replies: [{ toolCalls: meters(3, 1) }, { text: "Done." }],
    agent: { tools: ["meter"], toolStrategy: { type: "sequential" } },
  });
  await session.run("Use tools");
  expect(most).toBe(1);
  expect(order).toEqual(["m0", "m1", "m2"]);
});

test.each(["openai_completions", "openai_responses", "azure_openai_responses"] as const)(
  "the same over %s, under one key of the vendor's cache [PROV-01.1, CACHE-05.2]",
  async (api) => {
    const thinking = "Which one?";
    const session = stage.session({
      replies: [{ thinking, toolCalls: meters(1, 1) }, { text: "Fine." }],
      agent: { tools: ["meter"], model: { api } },
    });
    expect(await session.run("Use tools")).toMatchObject({ text: "Fine." });
    expect((await session.readConversation())[2]).toBe("toolResult: metered m0");
    const keys = session
      .listRequests()
      .map(({ body }) => (body as { prompt_cache_key?: string }).prompt_cache_key);
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{32}$/), keys[0]]);
    const bodies = session.listRequests().map(({ body }) => JSON.stringify(body));
    // Thinking is sent back completely in the protocol that has it.
    if (api !== "openai_completions") expect(bodies[1]).toContain('"encrypted_content":"gAAAAAB');
  },
);
