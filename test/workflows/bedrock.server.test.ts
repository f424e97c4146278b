import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

// Whole runs over Amazon's protocol: signed requests, binary frames, an exception in the middle of them.

const KEY = "AKIDEXAMPLE:secret-key-0123456789:session-token-0123456789";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  replay: "pure",
  execute: async ({ city }) => {
    if (city === "Atlantis") throw new Error("no such city");
    return `sunny in ${city}`;
  },
});

let stage: TestEnvironment;
beforeAll(async () => {
  const secrets = (name: string) => (name === TEST_KEY_NAME ? KEY : undefined);
  stage = await openTestEnvironment({ tools: [weather], secrets });
});
afterAll(() => stage.close());

test("a loop with calls over Bedrock survives a throttling exception in mid-stream [PROV-23, PROV-24, PROV-25.1, RTY-03.1, X-26.1]", async () => {
  const session = stage.session({
    agent: {
      tools: ["weather"],
      thinking: "low",
      retry: { initialDelayMs: 10 },
      model: {
        id: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        api: "bedrock_converse_stream",
        provider: "bedrock",
        baseUrl: stage.model.bedrockBaseUrl,
      },
    },
  });
  const thinking = { text: "I should look.", signature: "sig==" };
  stage.model.script({
    apiKey: KEY,
    conversations: [
      {
        match: ({ conversation }) => conversation === session.id,
        faults: [{ fault: "mid-stream-error", onTurn: 1 }],
        replies: [
          {
            thinking,
            text: "Let me see.",
            toolCalls: [
              { name: "weather", arguments: { city: "Paris" } },
              { name: "weather", arguments: { city: "Atlantis" } },
            ],
          },
          { text: "It is sunny, half of it invented. 😀", usage: { input: 7, output: 9, cacheRead: 1000 } },
        ],
      },
    ],
  });
  expect(await session.run("How is the weather?")).toMatchObject({
    text: "It is sunny, half of it invented. 😀",
  });
  expect(session.listRequests().map(({ outcome, fault }) => [outcome, fault])).toEqual([
    ["answered", undefined],
    ["faulted", "mid-stream-error"],
    ["answered", undefined],
  ]);
  const [, , last] = session.listRequests();
  expect(last?.body?.["messages"]).toMatchObject([
    { role: "user", content: [{ text: "How is the weather?" }] },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: thinking } },
        { text: "Let me see." },
        { toolUse: { name: "weather", input: { city: "Paris" } } },
        { toolUse: { name: "weather", input: { city: "Atlantis" } } },
        { cachePoint: { type: "default" } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { content: [{ text: "sunny in Paris" }], status: "success" } },
        { toolResult: { content: [{ text: expect.stringContaining("no such city") }], status: "error" } },
      ],
    },
  ]);
  const answers = (await session.readEntries()).flatMap(({ message }) =>
    message.role === "assistant" ? [message] : [],
  );
  expect(answers.map(({ provider, stopReason }) => [provider, stopReason])).toEqual([
    ["bedrock", "toolUse"],
    ["bedrock", "stop"],
  ]);
  expect(answers[1]?.usage).toMatchObject({ input: 7, output: 9, cacheRead: 1000 });
});
