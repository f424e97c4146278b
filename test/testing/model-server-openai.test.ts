import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import { createOpenAi, createOpenAiRequest, startServer, streamOpenAi } from "./vendor-clients.ts";

const REPLY: Reply = {
  text: "Hello, wörld 😀. I look at both files.",
  toolCalls: [
    { name: "read_file", arguments: { path: "a.txt", deep: [1, { two: "ü" }] } },
    { id: "call_mine", name: "list_files", arguments: {} },
  ],
  usage: { input: 120, output: 45, reasoning: 9, cacheRead: 1000 },
  chunkSize: 5,
};

const MESSAGE = {
  role: "assistant",
  content: REPLY.text,
  tool_calls: [
    {
      id: expect.stringMatching(/^call_\w{24}$/),
      type: "function",
      function: { name: "read_file", arguments: '{"path":"a.txt","deep":[1,{"two":"ü"}]}' },
    },
    { id: "call_mine", type: "function", function: { name: "list_files", arguments: "{}" } },
  ],
};

const USAGE = {
  prompt_tokens: 1120,
  completion_tokens: 45,
  total_tokens: 1165,
  prompt_tokens_details: { cached_tokens: 1000 },
  completion_tokens_details: { reasoning_tokens: 9 },
};

describe("the vendor's SDK reads the script from the OpenAI stream", () => {
  test("content, usage and finish reason", async () => {
    const server = await startServer({ replies: [REPLY] });
    const completion = await streamOpenAi(server).finalChatCompletion();
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-C\w{28}$/),
      model: "gpt-test",
      choices: [{ index: 0, finish_reason: "tool_calls", message: MESSAGE }],
      usage: USAGE,
    });
  });

  test("the same without streaming", async () => {
    const server = await startServer({ replies: [REPLY] });
    const completion = await createOpenAi(server).chat.completions.create(createOpenAiRequest());
    expect(completion).toMatchObject({
      choices: [{ finish_reason: "tool_calls", message: MESSAGE }],
      usage: USAGE,
    });
  });

  test("reasoning comes before the text, in reasoning_content", async () => {
    const server = await startServer({
      replies: [{ thinking: "Hmm, let me see.", text: "Yes.", chunkSize: 4 }],
    });
    const stream = await createOpenAi(server).chat.completions.create({
      ...createOpenAiRequest(),
      stream: true,
    });
    const seen = { reasoning: "", text: "" };
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as { reasoning_content?: string; content?: string } | undefined;
      if (seen.text !== "") expect(delta?.reasoning_content ?? "").toBe("");
      seen.reasoning += delta?.reasoning_content ?? "";
      seen.text += delta?.content ?? "";
    }
    expect(seen).toEqual({ reasoning: "Hmm, let me see.", text: "Yes." });
  });

  test("there is no usage chunk unless it is requested", async () => {
    const server = await startServer({ replies: [{ text: "hi" }] });
    const stream = await createOpenAi(server).chat.completions.create({
      ...createOpenAiRequest(),
      stream: true,
    });
    for await (const chunk of stream) expect(chunk).not.toHaveProperty("usage");
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
  ])("stop %s is %s on the wire", async (stop, wire) => {
    const server = await startServer({ replies: [{ text: "no", stop }] });
    const completion = await createOpenAi(server).chat.completions.create(createOpenAiRequest());
    expect(completion.choices[0]?.finish_reason).toBe(wire);
  });

  test("broken arguments are sent unchanged", async () => {
    const server = await startServer({
      replies: [{ toolCalls: [{ name: "bash", arguments: '{"command": "ls' }] }],
    });
    const completion = await createOpenAi(server).chat.completions.create(createOpenAiRequest());
    expect(completion.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: '{"command": "ls' },
    });
  });
});
