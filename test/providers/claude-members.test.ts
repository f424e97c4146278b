import type { BetaContentBlock } from "@anthropic-ai/sdk/resources/beta/messages/messages.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropic, bedrock } from "../../src/config/vendor-models.ts";
import { AnthropicAssembler } from "../../src/models/anthropic-messages/anthropic-assembler.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import { buildConverseRequest } from "../../src/models/bedrock-converse/request.ts";
import { buildThinkingFields } from "../../src/models/claude-thinking-fields.ts";
import type { AssistantMessage, Content, Message } from "../../src/schema/message.ts";
import { ThinkingLevel } from "../../src/schema/model.ts";
import { createRequest, encodeSse, readAnswer } from "./answer-reader.ts";
import { encodeEvent, readFrames } from "./bedrock-stream.ts";

// Every member of the unions in the vendors' types is stored, and sent back unchanged.

const user: Message = { role: "user", content: [{ type: "text", text: "a" }], timestamp: 1 };
const auto = { enabled: true, strategy: "auto" } as const;

function answer(blocks: readonly object[], usage: object = {}, stop = "end_turn"): AssistantMessage {
  const events = [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 10, output_tokens: 1 } } },
    ...blocks.flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 5, ...usage } },
    { type: "message_stop" },
  ];
  const { message } = readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]);
  return { ...message, provider: "anthropic" };
}

const BLOCKS: Record<BetaContentBlock["type"], object> = {
  text: { text: "x", citations: [{ type: "char_location", cited_text: "c", document_index: 0 }] },
  thinking: { thinking: "hm", signature: "s" },
  redacted_thinking: { data: "Eq==" },
  tool_use: {
    id: "t1",
    name: "read",
    input: { a: 1 },
    caller: { type: "code_execution_20250825", tool_id: "srv_1" },
  },
  server_tool_use: { id: "s1", name: "web_search", input: { query: "x" } },
  web_search_tool_result: { tool_use_id: "s1", content: [] },
  web_fetch_tool_result: { tool_use_id: "s1", content: { type: "web_fetch_result" } },
  advisor_tool_result: { tool_use_id: "s1", content: { type: "advisor_result", text: "x" } },
  code_execution_tool_result: { tool_use_id: "s1", content: {} },
  bash_code_execution_tool_result: { tool_use_id: "s1", content: {} },
  text_editor_code_execution_tool_result: { tool_use_id: "s1", content: {} },
  tool_search_tool_result: { tool_use_id: "s1", content: {} },
  mcp_tool_use: { id: "m1", name: "n", server_name: "s", input: {} },
  mcp_tool_result: { tool_use_id: "m1", is_error: false, content: [] },
  container_upload: { file_id: "f" },
  compaction: { content: "S", encrypted_content: "E" },
  fallback: { from: { model: "a" }, to: { model: "b" } },
  mcp_tool_listing: { server_name: "s", tools: [] },
};

test.each(Object.entries(BLOCKS))(
  "a block of %s is sent back unchanged [PROV-09, PROV-11.1]",
  (type, fields) => {
    const block = { type, ...fields };
    const sent = buildAnthropicRequest(
      createRequest(anthropic("claude-opus-5"), { messages: [user, answer([block]), user], cache: auto }),
    ).messages[1]?.content[0];
    const { cache_control: _, ...plain } = { cache_control: undefined, ...sent };
    expect(plain).toEqual(block);
  },
);

test("a compaction's tokens are counted in addition to the totals [CACHE-04.1-2]", () => {
  const round = (type: string, input: number, output: number) => ({
    type,
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 2,
    cache_creation_input_tokens: 1,
  });
  const iterations = [round("compaction", 100, 50), round("message", 30, 3), round("message", 40, 4)];
  const totals = { input_tokens: 70, output_tokens: 7, iterations };
  expect(answer([], totals).usage).toMatchObject({ input: 170, output: 57, cacheRead: 2 });
  expect(answer([], { ...totals, iterations: [] }).usage).toMatchObject({ input: 70, output: 7 });
});

describe("levels of thinking [THK-01.3]", () => {
  test.each([
    ["claude-opus-5-5", undefined, "xhigh", "max"],
    ["claude-opus-4-6", "adaptive", "high", "max"],
    ["claude-opus-4-5", "adaptive", "high", "high"],
  ] as const)("above high: %s", (id, style, xhigh, max) => {
    const effort = (level: ThinkingLevel) => buildThinkingFields(id, level, 4096, 8192, style).output_config;
    expect([effort("xhigh"), effort("max")]).toEqual([{ effort: xhigh }, { effort: max }]);
    const model = { ...bedrock(`anthropic.${id}-v1:0`), ...(style && { thinkingStyle: style }) };
    const fields = buildConverseRequest(
      createRequest(model, { thinking: "max" }),
    ).additionalModelRequestFields;
    expect(fields?.["output_config"]).toEqual({ effort: max });
  });

  test("an unknown one is rejected with the list of known ones", () => {
    expect(ThinkingLevel.parse("XHigh")).toBe("xhigh");
    expect(() => ThinkingLevel.parse("ultra")).toThrow(/off.*minimal.*low.*medium.*high.*xhigh.*max/s);
  });

  test("thinking between tools is a beta with a budget, and a type of its own where thinking is off", () => {
    const asked = (id: string, thinking: ThinkingLevel) =>
      buildConverseRequest(createRequest({ ...bedrock(id), thinkingBetweenTools: true }, { thinking }))
        .additionalModelRequestFields;
    expect(asked("anthropic.claude-sonnet-4-5-v1:0", "low")).toMatchObject({
      anthropic_beta: ["interleaved-thinking-2025-05-14"],
    });
    expect(asked("anthropic.claude-sonnet-4-5-v1:0", "off")).toBeUndefined();
    expect(asked("anthropic.claude-sonnet-5-5", "low")).not.toHaveProperty("anthropic_beta");
    expect(asked("anthropic.claude-sonnet-5-5", "off")).toEqual({ thinking: { type: "between_tools" } });
  });
});

test("Bedrock: citations and images are sent back unchanged [PROV-25.1]", () => {
  const delta = (contentBlockIndex: number, one: object) =>
    encodeEvent("contentBlockDelta", { contentBlockIndex, delta: one });
  const citation = { title: "T", sourceContent: [{ text: "c" }], location: { web: { url: "https://h/" } } };
  const { message } = readFrames([
    delta(0, { text: "So." }),
    delta(0, { citation }),
    encodeEvent("contentBlockStart", { contentBlockIndex: 1, start: { image: { format: "png" } } }),
    delta(1, { image: { source: { bytes: "aGk=" } } }),
    encodeEvent("messageStop", { stopReason: "end_turn" }),
    encodeEvent("metadata", { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
  ]);
  const said = { ...message, provider: "bedrock", model: "anthropic.claude-opus-5" };
  const model = bedrock("anthropic.claude-opus-5");
  expect(
    buildConverseRequest(createRequest(model, { messages: [user, said, user] })).messages[1]?.content,
  ).toEqual([
    { citationsContent: { content: [{ text: "So." }], citations: [citation] } },
    { image: { format: "png", source: { bytes: "aGk=" } } },
  ]);
});

const part = fc.constantFrom<Content>(
  { type: "text", text: "x" },
  { type: "text", text: "", signature: '{"citations":[{"type":"t"}]}' },
  { type: "thinking", thinking: "hm", signature: "s" },
  { type: "vendor", kind: "server_tool_use", data: { type: "server_tool_use", id: "s" } },
);
const turn = fc.record({ parts: fc.array(part, { maxLength: 4 }), calls: fc.integer({ min: 0, max: 25 }) });

test("property: at most four cache marks, on blocks that may have one, and an unchanged past [CACHE-06.2]", () => {
  const most: number[] = [];
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
      const messages: Message[] = [user];
      let before: string[] = [];
      for (const [nth, { parts, calls }] of turns.entries()) {
        const ids = Array.from({ length: calls }, (_, at) => `c${nth}_${at}`);
        const content = [
          ...parts,
          ...ids.map((id): Content => ({ type: "toolCall", id, name: "read", arguments: {} })),
        ];
        messages.push({ ...answer([]), content });
        for (const id of ids)
          messages.push({
            role: "toolResult",
            toolCallId: id,
            toolName: "read",
            content: [],
            isError: false,
            timestamp: 1,
          });
        if (calls === 0) messages.push(user);
        const body = buildAnthropicRequest(
          createRequest(anthropic("claude-opus-5"), {
            messages,
            systemPrompt: "S",
            tools: [{ name: "read", description: "r", parameters: {} }],
            cache: auto,
          }),
        );
        const blocks = body.messages.flatMap((one) => one.content);
        const marked = blocks.filter((block) => "cache_control" in block);
        most.push(marked.length);
        const all = JSON.stringify(body).split('"cache_control"').length - 1;
        expect(all).toBeLessThanOrEqual(4);
        for (const block of marked) {
          expect(["text", "image", "tool_use", "tool_result"]).toContain(block.type);
          if (block.type === "text") expect(block.text).not.toBe("");
        }
        const plain = body.messages.map((one) =>
          JSON.stringify(one).replaceAll(',"cache_control":{"type":"ephemeral"}', ""),
        );
        expect(plain.slice(0, before.length)).toEqual(before);
        before = plain;
      }
    }),
    { numRuns: 60 },
  );
  expect(Math.max(...most)).toBe(2);
});
