import Anthropic from "@anthropic-ai/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { AnthropicAssembler } from "../../src/models/anthropic-messages/anthropic-assembler.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { anthropicStreams, hasMoreRecordings, NO_MORE_RECORDINGS } from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import {
  type context,
  createHttp,
  createRequest,
  encodeSse,
  joinDeltas,
  readAnswer,
} from "./answer-reader.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { pickCutPoints, sliceBytes, sliceRandomly } from "./slices.ts";

const assemble = (given: typeof context) => new AnthropicAssembler(given);
const pool = createHttp();
afterAll(async () => await pool.close());

/** The vendor's own reading of the same bytes. */
async function sdkMessage(bytes: Uint8Array): Promise<Anthropic.Beta.BetaMessage> {
  const client = new Anthropic({
    apiKey: "k",
    maxRetries: 0,
    fetch: async () => new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream" } }),
  });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "x" }];
  // The beta reader knows more types of blocks.
  return await client.beta.messages.stream({ model: "m", max_tokens: 10, messages }).finalMessage();
}

const REASONS: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  refusal: "guardRail",
};

const cited = ({ citations }: Anthropic.Beta.BetaTextBlock) =>
  citations && citations.length > 0 ? { signature: JSON.stringify({ citations }) } : {};

/** The SDK's message in our types. */
function translated(message: Anthropic.Beta.BetaMessage) {
  const content = message.content.flatMap((block): unknown[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ type: "text", text: block.text, ...cited(block) }];
      case "thinking":
        return [{ type: "thinking", thinking: block.thinking, signature: block.signature }];
      case "redacted_thinking":
        return [{ type: "thinking", thinking: "", signature: block.data, redacted: true }];
      case "tool_use":
        return [{ type: "toolCall", id: block.id, name: block.name, arguments: block.input }];
      default:
        return [{ type: "vendor", kind: block.type, data: JSON.parse(JSON.stringify(block)) }];
    }
  });
  const usage = message.usage;
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  return {
    content,
    stopReason: REASONS[message.stop_reason ?? ""],
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
      cacheRead,
      cacheWrite,
      totalTokens: usage.input_tokens + usage.output_tokens + cacheRead + cacheWrite,
    },
    responseId: message.id,
  };
}

/** The SDK's result for bytes that are cut off. */
async function sdkOutcome(bytes: Uint8Array): Promise<ReturnType<typeof translated> | "error"> {
  return await sdkMessage(bytes).then(translated, () => "error" as const);
}

function ours({ content, stopReason, usage, responseId }: AssistantMessage) {
  return { content, stopReason, usage, responseId };
}

function expectDeltasToAddUp(bytes: Uint8Array): void {
  const { message, deltas } = readAnswer(assemble, [bytes]);
  const blocks = joinDeltas(deltas);
  for (const [index, part] of message.content.entries()) {
    if (part.type === "text") expect(blocks[index]).toBe(`text:${part.text}`);
    if (part.type === "thinking" && part.thinking !== "")
      expect(blocks[index]).toBe(`thinking:${part.thinking}`);
    if (part.type === "toolCall")
      expect(JSON.parse(blocks[index]!.slice("toolCall:".length) || "{}")).toEqual(part.arguments);
  }
}

describe("recorded replies of Anthropic", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many", () =>
    expect(anthropicStreams.length).toBeGreaterThanOrEqual(11),
  );

  test.each(anthropicStreams)("$file: same as the SDK, in slices of every size", async ({ bytes }) => {
    const expected = translated(await sdkMessage(bytes));
    expect(ours(readAnswer(assemble, [bytes]).message)).toEqual(expected);
    expect(ours(readAnswer(assemble, sliceBytes(bytes)).message)).toEqual(expected);
    for (let seed = 1; seed <= 8; seed += 1) {
      expect(ours(readAnswer(assemble, sliceRandomly(bytes, seed)).message)).toEqual(expected);
    }
    expectDeltasToAddUp(bytes);
  });

  test.each(anthropicStreams)("$file: cut off anywhere, it is broken as for the SDK", async ({ bytes }) => {
    const whole = ours(readAnswer(assemble, [bytes]).message);
    for (const at of [0, 1, bytes.length - 1, bytes.length - 2, ...pickCutPoints(bytes, 11, 24)]) {
      const cut = bytes.subarray(0, at);
      const theirs = await sdkOutcome(cut);
      const mine = await Promise.resolve()
        .then(() => ours(readAnswer(assemble, [cut]).message))
        .catch((error: unknown) => error);
      // The SDK also requires the blank line after the last event.
      if (theirs === "error" && !(mine instanceof Error)) expect(mine).toEqual(whole);
      else if (theirs === "error") expect([at, mine]).toMatchObject([at, { fault: "network" }]);
      else expect(mine).toEqual(theirs);
    }
  });

  test.each(anthropicStreams)("$file: same over HTTP", async ({ bytes, ct }) => {
    const expected = translated(await sdkMessage(bytes));
    const ways = [
      [bytes],
      sliceRandomly(bytes, 3, 2000),
      ...(bytes.length < 8000 ? [sliceBytes(bytes)] : []),
    ];
    for (const slices of ways) {
      const server = await LoopbackServer.start(async (response) => {
        response.writeHead(200, { "content-type": ct });
        await writeSlices(response, slices);
      });
      const provider = new AnthropicMessages({ http: pool, maxContinuations: 0 });
      const request = createRequest(anthropic("claude-x", { baseUrl: server.url }));
      const message = await provider.stream(request, { signal: new AbortController().signal });
      expect(ours(message)).toEqual(expected);
      await server.stop();
    }
  });
});

// The recordings contain no call of a tool of ours and no refusal: these streams follow the vendor's types.
const head = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 },
  },
};
const tail = (stop_reason: string, delta: object = {}) => [
  {
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null, ...delta },
    usage: { output_tokens: 40, output_tokens_details: { thinking_tokens: 9 } },
  },
  { type: "message_stop" },
];
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const call = (index: number, id: string, ...pieces: string[]) =>
  block(
    index,
    { type: "tool_use", id, name: "read_file", input: {} },
    ...pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );

const BUILT: Record<string, readonly unknown[]> = {
  "five fragments give one object": [
    head,
    ...call(0, "toolu_1", "", '{"pa', 'th":"ä', "🌍", '","n":[1', ",2]}"),
    ...tail("tool_use"),
  ],
  "no fragments give no arguments": [head, ...call(0, "toolu_1", ""), ...tail("tool_use")],
  "several calls after text and thinking": [
    head,
    { type: "ping" },
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "hm" },
      { type: "signature_delta", signature: "sig==" },
    ),
    ...block(
      1,
      { type: "text", text: "" },
      { type: "text_delta", text: "I will" },
      { type: "text_delta", text: " read" },
    ),
    ...call(2, "toolu_1", '{"path":"a"}'),
    ...call(3, "toolu_2", '{"path":"b"}'),
    ...tail("tool_use"),
  ],
  "an empty text block is nothing": [
    head,
    ...block(0, { type: "text", text: "" }),
    ...call(1, "toolu_1", "{}"),
    ...tail("tool_use"),
  ],
  "an answer without content": [head, ...tail("end_turn")],
  "out of tokens": [
    head,
    ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "half" }),
    ...tail("max_tokens"),
  ],
  "out of window": [
    head,
    ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "half" }),
    ...tail("model_context_window_exceeded"),
  ],
  "a stop sequence": [
    head,
    ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "done" }),
    ...tail("stop_sequence"),
  ],
  refused: [
    head,
    ...tail("refusal", { stop_details: { type: "refusal", category: "cyber", explanation: "no" } }),
  ],
};

describe("answers that follow the vendor's types [PROV-09]", () => {
  test.each(Object.entries(BUILT))("%s: same as the SDK", async (_name, events) => {
    const bytes = encodeSse(events);
    const expected = translated(await sdkMessage(bytes));
    for (const slices of [[bytes], sliceBytes(bytes), sliceRandomly(bytes, 5, 40)]) {
      expect(ours(readAnswer(assemble, slices).message)).toEqual(expected);
    }
    expectDeltasToAddUp(bytes);
  });
});
