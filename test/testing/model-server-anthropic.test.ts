import type Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import { createAnthropic, createAnthropicRequest, startServer } from "./vendor-clients.ts";

const REPLY: Reply = {
  thinking: "The user greets me. Grüße… 😀",
  text: "Hello, wörld 😀. I look at both files.",
  toolCalls: [
    { name: "read_file", arguments: { path: "a.txt", deep: { list: [1, 2, { three: "ü" }] } } },
    { id: "toolu_mine", name: "list_files" },
  ],
  usage: { input: 120, output: 45, reasoning: 9, cacheRead: 1000, cacheWrite: 30 },
  // A multiple of it lies within the emoji of the text.
  chunkSize: 7,
};

const USAGE = {
  input_tokens: 120,
  cache_read_input_tokens: 1000,
  cache_creation_input_tokens: 30,
  output_tokens: 45,
  output_tokens_details: { thinking_tokens: 9 },
};

const CONTENT = [
  { type: "thinking", thinking: REPLY.thinking, signature: expect.stringMatching(/^Eus\w{100}/) },
  { type: "text", text: REPLY.text },
  {
    type: "tool_use",
    id: expect.stringMatching(/^toolu_01\w{22}$/),
    name: "read_file",
    input: { path: "a.txt", deep: { list: [1, 2, { three: "ü" }] } },
  },
  { type: "tool_use", id: "toolu_mine", name: "list_files", input: {} },
];

describe("the vendor's SDK reads the script from the Anthropic stream", () => {
  test("content, usage and stop reason", async () => {
    const server = await startServer({ replies: [REPLY] });
    const message = await createAnthropic(server).messages.stream(createAnthropicRequest()).finalMessage();
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_01\w{22}$/),
      role: "assistant",
      model: "claude-test",
      content: CONTENT,
      stop_reason: "tool_use",
      usage: USAGE,
    });
  });

  test("deltas have the size that the script specifies, and whole characters", async () => {
    const server = await startServer({ replies: [REPLY] });
    const pieces: string[] = [];
    await createAnthropic(server)
      .messages.stream(createAnthropicRequest())
      .on("text", (piece) => pieces.push(piece))
      .finalMessage();
    expect(pieces.length).toBe(Math.ceil(REPLY.text!.length / 7));
    expect(pieces.join("")).toBe(REPLY.text);
    expect(pieces.filter((piece) => /\p{Surrogate}/u.test(piece))).toEqual([]);
  });

  test("the same without streaming", async () => {
    const server = await startServer({ replies: [REPLY] });
    const message = await createAnthropic(server).messages.create(createAnthropicRequest());
    expect(message).toMatchObject({ content: CONTENT, stop_reason: "tool_use", usage: USAGE });
  });

  test.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["refusal", "refusal"],
  ])("stop %s is %s on the wire", async (stop, wire) => {
    const server = await startServer({ replies: [{ text: "no", stop }] });
    const message = await createAnthropic(server).messages.stream(createAnthropicRequest()).finalMessage();
    expect(message.stop_reason).toBe(wire);
  });

  test("encrypted thinking arrives as one block", async () => {
    const server = await startServer({
      replies: [{ thinking: { text: "", redacted: true, signature: "EqkXYZ" }, text: "hi" }],
    });
    const message = await createAnthropic(server).messages.stream(createAnthropicRequest()).finalMessage();
    expect(message.content).toMatchObject([
      { type: "redacted_thinking", data: "EqkXYZ" },
      { type: "text", text: "hi" },
    ]);
  });

  test("an answer is sent back and the next turn follows", async () => {
    const server = await startServer({ replies: [REPLY, { text: "over" }] });
    const client = createAnthropic(server);
    const first = await client.messages.stream(createAnthropicRequest()).finalMessage();
    const results = first.content
      .filter((block) => block.type === "tool_use")
      .map(
        (block): Anthropic.ToolResultBlockParam => ({
          type: "tool_result",
          tool_use_id: block.id,
          content: "fine",
        }),
      );
    const second = await client.messages.create({
      ...createAnthropicRequest(),
      messages: [
        ...createAnthropicRequest().messages,
        { role: "assistant", content: first.content },
        { role: "user", content: results },
      ],
    });
    expect(second.content).toMatchObject([{ type: "text", text: "over" }]);
    expect(server.requests.map((request) => request.turn)).toEqual([0, 1]);
  });
});
