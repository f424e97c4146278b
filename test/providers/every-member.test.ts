import { BlockedReason, FinishReason, type Part } from "@google/genai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { AnswerContext } from "../../src/models/assembler.ts";
import { buildConversation } from "../../src/models/conversation.ts";
import { GeminiAssembler } from "../../src/models/gemini/gemini-assembler.ts";
import { CompletionsAssembler } from "../../src/models/openai-completions/completions-assembler.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { selectIdRule, toInputItems } from "../../src/models/responses/input-items.ts";
import { ResponsesAssembler } from "../../src/models/responses/responses-assembler.ts";
import type { Content, StopReason } from "../../src/schema/message.ts";
import { encodeSse, readAnswer } from "./answer-reader.ts";
import { joinParts, readSdkAnswer, toParts } from "./gemini-sdk.ts";

// Every member of the vendors' unions, as in their SDKs' types: a member that is missing here does not compile.

const client = (bytes: Uint8Array) =>
  new OpenAI({
    apiKey: "k",
    maxRetries: 0,
    fetch: async () => new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream" } }),
  });

/** The message, or the fault of the error. */
function made<Result>(work: () => Result): Result | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof ProviderError) return error.fault;
    throw error;
  }
}

const text = (value: string): Content => ({ type: "text", text: value });
const plain = (content: readonly Content[]) =>
  content.map(({ type, ...part }) => [type, Object.values(part)[0]]);

describe("Responses [PROV-18]", () => {
  const responses = (context: AnswerContext) => new ResponsesAssembler(context);
  const USAGE = {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 14,
  };
  const response = (fields: object) => ({ id: "resp_1", object: "response", output: [], ...fields });
  const stream = (between: readonly object[], output: readonly object[] = []) =>
    encodeSse([
      { type: "response.created", response: response({ status: "in_progress" }) },
      ...between,
      { type: "response.completed", response: response({ status: "completed", output, usage: USAGE }) },
    ]);

  type EventName = OpenAI.Responses.ResponseStreamEvent["type"];
  /** The effect of one event alone, in the middle of an answer: its part of the content, a fault, or nothing. */
  const EVENTS: Readonly<Record<EventName, { readonly fields?: object; readonly makes?: unknown }>> = {
    "response.audio.delta": { fields: { delta: "AAAA" } },
    "response.audio.done": {},
    "response.audio.transcript.delta": { fields: { delta: "spoken" } },
    "response.audio.transcript.done": {},
    "response.code_interpreter_call_code.delta": { fields: { delta: "1+1" } },
    "response.code_interpreter_call_code.done": { fields: { code: "1+1" } },
    "response.code_interpreter_call.completed": {},
    "response.code_interpreter_call.in_progress": {},
    "response.code_interpreter_call.interpreting": {},
    "response.compaction.compacting": {},
    "response.completed": { fields: { response: response({ status: "completed" }) }, makes: [] },
    "response.content_part.added": { fields: { part: { type: "output_text", text: "", annotations: [] } } },
    "response.content_part.done": { fields: { part: { type: "output_text", text: "", annotations: [] } } },
    "response.created": { fields: { response: response({ status: "in_progress" }) } },
    error: { fields: { code: "server_error", message: "no", param: null }, makes: "api" },
    "response.failed": {
      fields: {
        response: response({ status: "failed", error: { code: "rate_limit_exceeded", message: "slow" } }),
      },
      makes: "rate-limited",
    },
    "response.file_search_call.completed": {},
    "response.file_search_call.in_progress": {},
    "response.file_search_call.searching": {},
    "response.function_call_arguments.delta": {
      fields: { delta: '{"a":1}' },
      makes: [["toolCall", "call_1"]],
    },
    "response.function_call_arguments.done": {
      fields: { name: "read", arguments: '{"a":1}' },
      makes: [["toolCall", "call_1"]],
    },
    "response.image_generation_call.completed": {},
    "response.image_generation_call.generating": {},
    "response.image_generation_call.in_progress": {},
    "response.image_generation_call.partial_image": {
      fields: { partial_image_b64: "AAAA", partial_image_index: 0 },
    },
    "response.in_progress": { fields: { response: response({ status: "in_progress" }) } },
    "response.incomplete": {
      fields: {
        response: response({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
      },
      makes: [],
    },
    "response.mcp_call_arguments.delta": { fields: { delta: "{}" } },
    "response.mcp_call_arguments.done": { fields: { arguments: "{}" } },
    "response.mcp_call.completed": {},
    "response.mcp_call.failed": {},
    "response.mcp_call.in_progress": {},
    "response.mcp_list_tools.completed": {},
    "response.mcp_list_tools.failed": {},
    "response.mcp_list_tools.in_progress": {},
    "response.output_item.added": {
      fields: { item: { type: "web_search_call", id: "ws_1", status: "in_progress" } },
      makes: [["vendor", "web_search_call"]],
    },
    "response.output_item.done": {
      fields: { item: { type: "web_search_call", id: "ws_1", status: "completed" } },
      makes: [["vendor", "web_search_call"]],
    },
    "response.output_text.annotation.added": {
      fields: { annotation: { type: "file_path" }, annotation_index: 0 },
    },
    "response.output_text.delta": { fields: { delta: "said" }, makes: [["text", "said"]] },
    "response.output_text.done": { fields: { text: "said" }, makes: [["text", "said"]] },
    "response.queued": { fields: { response: response({ status: "queued" }) } },
    "response.reasoning_summary_part.added": { fields: { part: { type: "summary_text", text: "" } } },
    "response.reasoning_summary_part.done": { fields: { part: { type: "summary_text", text: "" } } },
    "response.reasoning_summary_text.delta": { fields: { delta: "hm" }, makes: [["thinking", "hm"]] },
    "response.reasoning_summary_text.done": { fields: { text: "hm" }, makes: [["thinking", "hm"]] },
    "response.reasoning_text.delta": { fields: { delta: "hm" }, makes: [["thinking", "hm"]] },
    "response.reasoning_text.done": { fields: { text: "hm" }, makes: [["thinking", "hm"]] },
    "response.refusal.delta": { fields: { delta: "no" }, makes: [["text", "no"]] },
    "response.refusal.done": { fields: { refusal: "no" }, makes: [["text", "no"]] },
    "response.shell_call_command.added": { fields: { command: "ls", command_index: 0 } },
    "response.shell_call_command.delta": { fields: { delta: "ls", command_index: 0 } },
    "response.shell_call_command.done": { fields: { command: "ls", command_index: 0 } },
    "response.shell_call_output_content.delta": { fields: { delta: { stdout: "a" }, command_index: 0 } },
    "response.shell_call_output_content.done": { fields: { output: [], command_index: 0 } },
    "response.web_search_call.completed": {},
    "response.web_search_call.in_progress": {},
    "response.web_search_call.searching": {},
    "response.custom_tool_call_input.delta": { fields: { delta: "x" } },
    "response.custom_tool_call_input.done": { fields: { input: "x" } },
  };

  test.each(Object.entries(EVENTS))("event %s", (type, { fields = {}, makes = [] }) => {
    const at = { output_index: 0, item_id: "item_1", content_index: 0, summary_index: 0, sequence_number: 1 };
    const result = made(() =>
      plain(readAnswer(responses, [stream([{ type, ...at, ...fields }])]).message.content),
    );
    expect(result).toEqual(makes);
    // An event without its optional fields is not fatal either.
    const bare = made(() => readAnswer(responses, [stream([{ type }])]).message.stopReason);
    expect(["stop", "toolUse", "length", "api"]).toContain(bare);
  });

  type ItemName = OpenAI.Responses.ResponseOutputItem["type"];
  /** An item's fields other than its type and its id. Items that are not read are stored whole. */
  const ITEMS: Readonly<Record<ItemName, object>> = {
    message: {
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi", annotations: [] }],
    },
    file_search_call: { queries: ["q"], status: "completed", results: [{ file_id: "f", score: 1 }] },
    function_call: { call_id: "c1", name: "read", arguments: '{"a":1}' },
    function_call_output: { call_id: "c0", output: "x", status: "completed" },
    web_search_call: {
      status: "completed",
      action: { type: "search", query: "q", sources: [{ type: "url", url: "u" }] },
    },
    computer_call: {
      call_id: "cc",
      status: "completed",
      pending_safety_checks: [],
      action: { type: "wait" },
    },
    computer_call_output: { call_id: "cc", status: "completed", output: { type: "computer_screenshot" } },
    reasoning: { summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "gAAA", status: null },
    program: { call_id: "p", code: "1", fingerprint: "f" },
    program_output: { call_id: "p", result: "1", status: "completed" },
    tool_search_call: { call_id: null, arguments: {}, execution: "server", status: "completed" },
    tool_search_output: { call_id: null, execution: "server", status: "completed", tools: [] },
    additional_tools: { role: "developer", tools: [] },
    compaction: { encrypted_content: "gBBB" },
    image_generation_call: { status: "completed", result: "iVBO" },
    code_interpreter_call: {
      container_id: "cn",
      code: "1",
      outputs: [{ type: "logs", logs: "1" }],
      status: "completed",
    },
    local_shell_call: {
      call_id: "l",
      status: "completed",
      action: { type: "exec", command: ["ls"], env: {} },
    },
    local_shell_call_output: { output: "{}", status: "completed" },
    shell_call: { call_id: "s", status: "completed", action: { commands: ["ls"], max_output_length: null } },
    shell_call_output: { call_id: "s", status: "completed", output: [], max_output_length: null },
    apply_patch_call: { call_id: "a", status: "completed", operation: { type: "delete_file", path: "f" } },
    apply_patch_call_output: { call_id: "a", status: "failed", output: "no" },
    mcp_call: {
      server_label: "m",
      name: "t",
      arguments: "{}",
      output: "o",
      error: null,
      approval_request_id: null,
    },
    mcp_list_tools: { server_label: "m", tools: [{ name: "t", input_schema: {} }] },
    mcp_approval_request: { server_label: "m", name: "t", arguments: "{}" },
    mcp_approval_response: { approval_request_id: "r", approve: true },
    custom_tool_call: { call_id: "ct", name: "n", input: "anything" },
    custom_tool_call_output: { call_id: "ct", output: "o", status: "completed" },
  };
  const READ = new Set(["message", "function_call", "reasoning"]);
  const PREFIX: Readonly<Record<string, string>> = { message: "msg", function_call: "fc", reasoning: "rs" };

  test.each(Object.entries(ITEMS))(
    "item %s: read as by the SDK, and sent back unchanged",
    async (type, fields) => {
      const item = { type, id: `${PREFIX[type] ?? "it"}_1`, ...fields };
      // Reasoning is followed by its outcome.
      const more = type === "reasoning" ? [{ type: "message", id: "msg_2", ...ITEMS.message }] : [];
      const output = [item, ...more];
      const events = output.flatMap((one, output_index) => [
        { type: "response.output_item.added", output_index, item: { ...one, status: "in_progress" } },
        { type: "response.output_item.done", output_index, item: one },
      ]);
      const bytes = stream(events, output);
      const theirs = (await client(bytes).responses.stream({ model: "m", input: "x" }).finalResponse())
        .output;
      const { message } = readAnswer(responses, [bytes]);
      const { message: unlisted } = readAnswer(responses, [stream(events)]);
      expect(unlisted.content).toEqual(message.content);
      if (!READ.has(type)) expect(message.content).toEqual([{ type: "vendor", kind: type, data: item }]);
      expect(message.stopReason).toBe(type === "function_call" ? "toolUse" : "stop");
      const back = toInputItems(buildConversation([message], message.provider, selectIdRule("vendor"))).slice(
        0,
        output.length,
      );
      const parsed = (key: string, value: unknown) => (key.startsWith("parsed") ? undefined : value);
      expect(back).toEqual(JSON.parse(JSON.stringify(theirs, parsed)));
    },
  );

  test("usage, complete", () => {
    expect(readAnswer(responses, [stream([])]).message.usage).toEqual({
      input: 6,
      output: 5,
      reasoning: 3,
      cacheRead: 2,
      cacheWrite: 1,
      totalTokens: 14,
    });
  });
});

describe("chat completions [PROV-13.2]", () => {
  const completions = (context: AnswerContext) => new CompletionsAssembler(context);
  type Choice = OpenAI.ChatCompletionChunk.Choice;
  const chunk = (fields: object) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    ...fields,
  });
  const choice = (delta: object, finish: string | null = null, more: object = {}) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: finish, ...more }] });
  const stream = (chunks: readonly object[], finish = "stop") =>
    encodeSse([choice({ role: "assistant" }), ...chunks, choice({}, finish), "[DONE]"], false);
  const content = (...chunks: object[]) => plain(readAnswer(completions, [stream(chunks)]).message.content);

  const DELTA: Readonly<Record<keyof OpenAI.ChatCompletionChunk.Choice.Delta, readonly [object, unknown]>> = {
    audio: [{ audio: { id: "a", data: "AAAA", expires_at: 1, transcript: "spoken" } }, [["text", "spoken"]]],
    content: [{ content: "said" }, [["text", "said"]]],
    function_call: [{ function_call: { name: "read", arguments: "{}" } }, [["toolCall", "call_1"]]],
    refusal: [{ refusal: "no" }, [["text", "no"]]],
    role: [{ role: "tool" }, []],
    tool_calls: [
      { tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "read", arguments: "{}" } }] },
      [["toolCall", "t1"]],
    ],
  };
  test.each(Object.entries(DELTA))("delta %s, also empty", (name, [delta, makes]) => {
    expect(content(choice(delta))).toEqual(makes);
    for (const nothing of [null, "", {}, [], 0]) expect(content(choice({ [name]: nothing }))).toBeDefined();
  });

  const CALLS: Readonly<
    Record<keyof OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall, readonly [object, readonly unknown[]]>
  > = {
    index: [{ id: "t1", function: { name: "read", arguments: '{"a":1}' } }, ["t1", "read", { a: 1 }]],
    id: [{ index: 0, function: { name: "read", arguments: '{"a":1}' } }, ["call_1", "read", { a: 1 }]],
    custom: [
      { index: 0, id: "t1", type: "custom", custom: { name: "grep", input: "a b" } },
      ["t1", "grep", "a b"],
    ],
    function: [{ index: 0, id: "t1", type: "function" }, ["t1", "", {}]],
    type: [{ index: 0, id: "t1", function: { name: "read" } }, ["t1", "read", {}]],
  };
  test.each(Object.entries(CALLS))("a call without %s or with another", (_name, [call, expected]) => {
    const { message } = readAnswer(completions, [stream([choice({ tool_calls: [call] })])]);
    const [part] = message.content;
    expect(part?.type === "toolCall" && [part.id, part.name, part.arguments]).toEqual(expected);
    expect(message.stopReason).toBe("toolUse");
  });

  const FINISH: Readonly<Record<NonNullable<Choice["finish_reason"]>, StopReason>> = {
    stop: "stop",
    length: "length",
    tool_calls: "stop",
    content_filter: "guardRail",
    function_call: "stop",
  };
  test.each(Object.entries(FINISH))(
    "finish reason %s, without calls: %s [PROV-07.1-2]",
    (finish, stopReason) => {
      expect(readAnswer(completions, [stream([], finish)]).message.stopReason).toBe(stopReason);
    },
  );

  const CHUNK: Readonly<Record<Exclude<keyof OpenAI.ChatCompletionChunk, "choices">, unknown>> = {
    id: "c2",
    created: 2,
    model: "other",
    object: "chat.completion.chunk",
    moderation: { flagged: false },
    obfuscation: "xxxx",
    service_tier: "flex",
    system_fingerprint: "fp",
    usage: null,
  };
  test.each(Object.entries({ ...CHUNK, x_groq: { id: "g" }, provider: "P" }))(
    "chunk with %s",
    async (name, value) => {
      const logprobs = {
        content: [{ token: "a", logprob: 0, bytes: null, top_logprobs: [] }],
        refusal: null,
      };
      const bytes = stream([{ ...choice({ content: "a" }, null, { logprobs }), [name]: value }]);
      const { message } = readAnswer(completions, [bytes]);
      const { choices } = await client(bytes)
        .chat.completions.stream({ model: "m", messages: [{ role: "user", content: "x" }] })
        .finalChatCompletion();
      expect(message.content).toEqual([text(choices[0]?.message.content ?? "")]);
      expect(message).toMatchObject({ responseId: "c", model: "m", stopReason: "stop" });
      expect(message.serviceTier).toBe(name === "service_tier" ? "flex" : undefined);
    },
  );

  test("usage with all its details", () => {
    const details: OpenAI.CompletionUsage = {
      prompt_tokens: 10,
      completion_tokens: 8,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 1 },
      completion_tokens_details: {
        reasoning_tokens: 5,
        audio_tokens: 1,
        accepted_prediction_tokens: 1,
        rejected_prediction_tokens: 1,
      },
    };
    for (const where of [{ usage: details }, { x_groq: { usage: details } }]) {
      const { usage } = readAnswer(completions, [stream([chunk({ choices: [], ...where })])]).message;
      expect(usage).toEqual({
        input: 6,
        output: 8,
        reasoning: 5,
        cacheRead: 4,
        cacheWrite: 0,
        totalTokens: 18,
      });
    }
  });
});

describe("Gemini [PROV-21.1]", () => {
  const gemini = (context: AnswerContext) => new GeminiAssembler(context, (call) => `google-fc-${call}`);
  const piece = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    responseId: "r1",
  });
  const stream = (parts: readonly object[], more: object = {}) =>
    encodeSse([piece(parts), piece([], { finishReason: "STOP", ...more })], false);

  /** A part with this field, and whether it contains something to store. */
  const PARTS: Readonly<Record<keyof Part, readonly [Part, boolean]>> = {
    text: [{ text: "a" }, true],
    thought: [{ text: "a", thought: true }, true],
    thoughtSignature: [{ text: "", thoughtSignature: "c2ln" }, true],
    inlineData: [{ inlineData: { mimeType: "image/png", data: "iVBO" } }, true],
    fileData: [{ fileData: { mimeType: "text/plain", fileUri: "gs://b/f" } }, true],
    functionCall: [{ functionCall: { id: "f1", name: "read", args: { a: 1 } } }, true],
    functionResponse: [{ functionResponse: { id: "f1", name: "read", response: { result: "x" } } }, true],
    executableCode: [{ executableCode: { language: "PYTHON" as never, code: "1", id: "e1" } }, true],
    codeExecutionResult: [
      { codeExecutionResult: { outcome: "OUTCOME_OK" as never, output: "1", id: "e1" } },
      true,
    ],
    toolCall: [{ toolCall: { id: "t1" } }, true],
    toolResponse: [{ toolResponse: { id: "t1" } }, true],
    videoMetadata: [{ videoMetadata: { fps: 1 } }, false],
    mediaResolution: [{ mediaResolution: { numTokens: 1 } }, false],
    mediaProcessing: [{ mediaProcessing: {} } as Part, false],
    partMetadata: [{ partMetadata: { a: 1 } }, false],
    speechMetadata: [{ speechMetadata: {} } as Part, false],
    audioTranscription: [{ audioTranscription: { text: "spoken" } } as Part, false],
  };
  test.each(Object.entries(PARTS))("part %s: read as by the SDK", async (name, [part, isKept]) => {
    const bytes = stream([part]);
    const { message } = readAnswer(gemini, [bytes]);
    expect(toParts(message)).toEqual(isKept ? joinParts((await readSdkAnswer("google", bytes)).parts) : []);
    for (const nothing of [null, "", {}, [], 0])
      expect(readAnswer(gemini, [stream([{ [name]: nothing }])]).message.stopReason).toMatch(/stop|toolUse/);
  });

  const FINISH: Readonly<Record<FinishReason, StopReason | "network" | "api">> = {
    FINISH_REASON_UNSPECIFIED: "network",
    STOP: "stop",
    MAX_TOKENS: "length",
    CONTINUATION: "length",
    SAFETY: "guardRail",
    RECITATION: "guardRail",
    LANGUAGE: "guardRail",
    OTHER: "guardRail",
    BLOCKLIST: "guardRail",
    PROHIBITED_CONTENT: "guardRail",
    SPII: "guardRail",
    IMAGE_SAFETY: "guardRail",
    IMAGE_PROHIBITED_CONTENT: "guardRail",
    IMAGE_RECITATION: "guardRail",
    IMAGE_OTHER: "guardRail",
    NO_IMAGE: "guardRail",
    MALFORMED_FUNCTION_CALL: "network",
    UNEXPECTED_TOOL_CALL: "network",
    TOO_MANY_TOOL_CALLS: "api",
  };
  test.each(Object.values(FinishReason))("finish reason %s [PROV-07.1-2]", (finishReason) => {
    const bytes = encodeSse([piece([{ text: "a" }]), piece([], { finishReason })], false);
    expect(made(() => readAnswer(gemini, [bytes]).message.stopReason)).toBe(FINISH[finishReason]);
  });

  test.each(Object.values(BlockedReason))("a blocked prompt: %s", (blockReason) => {
    const bytes = encodeSse(
      [{ promptFeedback: { blockReason, safetyRatings: [] }, responseId: "r1" }],
      false,
    );
    const said = blockReason === "BLOCKED_REASON_UNSPECIFIED" ? "network" : "guardRail";
    expect(made(() => readAnswer(gemini, [bytes]).message.stopReason)).toBe(said);
  });

  test("metadata beside an answer does not affect it", () => {
    const more = {
      groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [{ web: { uri: "u", title: "t" } }] },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: "u" }] },
      citationMetadata: { citations: [{ uri: "u" }] },
      safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "LOW" }],
      logprobsResult: { topCandidates: [] },
      avgLogprobs: -0.1,
      tokenCount: 3,
      continuationToken: "t",
    };
    expect(readAnswer(gemini, [stream([{ text: "a" }], more)]).message.content).toEqual([text("a")]);
  });

  test("usage with its modalities", () => {
    const modalities = [{ modality: "IMAGE", tokenCount: 4 }];
    const usageMetadata = {
      promptTokenCount: 10,
      promptTokensDetails: modalities,
      toolUsePromptTokenCount: 2,
      toolUsePromptTokensDetails: modalities,
      cachedContentTokenCount: 3,
      cacheTokensDetails: modalities,
      candidatesTokenCount: 5,
      candidatesTokensDetails: modalities,
      thoughtsTokenCount: 4,
      totalTokenCount: 21,
    };
    const bytes = encodeSse([piece([{ text: "a" }], { finishReason: "STOP" }), { usageMetadata }], false);
    const { usage } = readAnswer(gemini, [bytes]).message;
    expect(usage).toEqual({
      input: 9,
      output: 9,
      reasoning: 4,
      cacheRead: 3,
      cacheWrite: 0,
      totalTokens: 21,
    });
  });
});
