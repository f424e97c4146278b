import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  buildUserMessage,
  getTurnId,
  isContextOverflow,
  setTurnId,
  toModelMessage,
} from "../../src/client/interop/agent-message.ts";
import { removeContextManagement } from "../../src/config/remove-context-management.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { OVERFLOW_PHRASES } from "../../src/platform/text/overflow.ts";
import { StreamDelta } from "../../src/schema/agent-event.ts";
import { ContextConfig } from "../../src/schema/context.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { Limits } from "../../src/schema/limits.ts";
import {
  AgentMessage,
  type AssistantMessage,
  Content,
  ExtensionMessage,
  Message,
  StopReason,
  Usage,
} from "../../src/schema/message.ts";
import { CacheConfig, ModelConfig, OpenAiCompat, Protocol, ThinkingLevel } from "../../src/schema/model.ts";
import { ContinuationKind, TurnTrigger } from "../../src/schema/record.ts";
import { ToolDefinition, ToolStrategy } from "../../src/schema/tool.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";

const count = fc.nat({ max: 2 ** 40 });
const anyText = fc.string({ unit: anyGrapheme, maxLength: 20 });
const anyJson = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
/** Absent fields are absent, not undefined. */
const object = <Fields extends Record<string, fc.Arbitrary<unknown>>>(fields: Fields) =>
  fc
    .record(fields)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)));

const anyContent = fc.oneof(
  object({ type: fc.constant("text"), text: anyText }),
  object({ type: fc.constant("image"), data: fc.base64String(), mimeType: fc.constant("image/png") }),
  object({
    type: fc.constant("thinking"),
    thinking: anyText,
    signature: maybe(anyText),
    redacted: maybe(fc.boolean()),
  }),
  object({ type: fc.constant("toolCall"), id: anyText, name: anyText, arguments: anyJson }),
);
const anyUsage = object({
  input: count,
  output: count,
  reasoning: count,
  cacheRead: count,
  cacheWrite: count,
  totalTokens: count,
});
const turnId = maybe(object({ loopId: anyText, turnIndex: fc.nat() }));
const content = fc.array(anyContent, { maxLength: 4 });
const timestamp = fc.nat();
const anyMessage = fc.oneof(
  object({ role: fc.constant("user"), content, timestamp, turnId }),
  object({
    role: fc.constant("assistant"),
    content,
    stopReason: fc.constantFrom(...StopReason.options),
    model: anyText,
    provider: anyText,
    usage: anyUsage,
    timestamp,
    errorMessage: maybe(anyText),
    turnId,
  }),
  object({
    role: fc.constant("toolResult"),
    toolCallId: anyText,
    toolName: anyText,
    content,
    isError: fc.boolean(),
    details: maybe(anyJson),
    timestamp,
    childLoopId: maybe(anyText),
    turnId,
  }),
);
const anyExtension = object({ role: fc.constant("extension"), kind: anyText, data: anyJson });

const answer: AssistantMessage = {
  role: "assistant",
  content: [],
  stopReason: "stop",
  model: "m",
  provider: "p",
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  timestamp: 1,
};
const extension: ExtensionMessage = { role: "extension", kind: "note", data: { a: 1 } };

describe("the parts of a conversation", () => {
  test("content is text, image, file, thinking, tool call or a vendor's block, in an ordered list that may mix them [TYP-01.1-2]", () => {
    expect(Content.options.map(({ shape }) => shape.type.value)).toEqual([
      "text",
      "image",
      "file",
      "thinking",
      "toolCall",
      "vendor",
    ]);
    const mixed = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "a" },
      { type: "toolCall", id: "1", name: "t", arguments: [1, { two: null }] },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "file", data: "JVBERi0=", mimeType: "application/pdf", name: "a.pdf", pages: 2 },
      { type: "vendor", kind: "web_search_call", data: { id: "ws_1", found: [null, 1] } },
      { type: "text", text: "b" },
    ];
    expect(Message.parse({ ...answer, content: mixed })).toMatchObject({ content: mixed });
    expect(Content.safeParse({ type: "video", data: "" }).success).toBe(false);
    expect(Content.safeParse({ type: "text" }).success).toBe(false);
  });

  test("a message is from a user, an assistant or a tool, each with its fields [TYP-03.1-3]", () => {
    expect(Message.options.map(({ shape }) => shape.role.value)).toEqual(["user", "assistant", "toolResult"]);
    const required = Message.options.map(({ shape }) =>
      Object.entries(shape).flatMap(([name, field]) => (field.safeParse(undefined).success ? [] : [name])),
    );
    expect(required).toEqual([
      ["role", "content", "timestamp"],
      ["role", "content", "stopReason", "model", "provider", "usage", "timestamp"],
      ["role", "toolCallId", "toolName", "content", "isError", "timestamp"],
    ]);
    expect(Message.options[1].shape).toHaveProperty("errorMessage");
    expect(Message.options[2].shape).toHaveProperty("childLoopId");
  });

  test("there are eleven stop reasons, in camelCase, and six counters [TYP-06, X-14, HITL-05]", () => {
    expect(StopReason.options).toEqual([
      "stop",
      "length",
      "toolUse",
      "error",
      "aborted",
      "maxTurns",
      "userStop",
      "handoff",
      "guardRail",
      "contextCompacted",
      "paused",
    ]);
    expect(Object.keys(Usage.shape)).toHaveLength(6);
  });

  test("usage has six counters of whole tokens; the total may be 0 or differ from their sum [TYP-07.1-3]", () => {
    expect(Object.keys(Usage.shape)).toEqual([
      "input",
      "output",
      "reasoning",
      "cacheRead",
      "cacheWrite",
      "totalTokens",
    ]);
    const usage = { input: 5, output: 4, reasoning: 3, cacheRead: 2, cacheWrite: 1, totalTokens: 0 };
    expect(Usage.parse(usage)).toEqual(usage);
    expect(Usage.parse({ ...usage, totalTokens: 99 }).totalTokens).toBe(99);
    const { reasoning: _, ...silent } = usage;
    expect(Usage.parse(silent).reasoning).toBe(0);
    for (const wrong of [-1, 0.5, "1"])
      expect(Usage.safeParse({ ...usage, input: wrong }).success).toBe(false);
  });

  test("an application's message is identified by its role and can never become a message for a model [TYP-10.1-2, TYP-11.1]", () => {
    expect(AgentMessage.parse(extension)).toEqual(extension);
    expect(Message.safeParse(extension).success).toBe(false);
    expect(toModelMessage(extension)).toBeUndefined();
    expect(AgentMessage.parse(answer)).toEqual(answer);
    expect(toModelMessage(answer)).toBe(answer);
  });

  test("a turn is a field of the message's own object; without one nothing is written [TYP-12.1-2]", () => {
    const id = { loopId: "s.a.1", turnIndex: 3 };
    expect(JSON.parse(JSON.stringify(Message.parse({ ...answer, turnId: id })))).toEqual({
      ...answer,
      turnId: id,
    });
    const without = Message.parse(JSON.parse(JSON.stringify(answer)));
    expect(without.turnId).toBeUndefined();
    expect(Object.keys(JSON.parse(JSON.stringify(without)))).not.toContain("turnId");
  });

  test("helpers: a user's message from a text, its role, and whether an answer reports that the context did not fit [TYP-05.1-3]", () => {
    const message = buildUserMessage("hi", 7);
    expect(Message.parse(message)).toEqual({
      role: "user",
      content: [{ type: "text", text: "hi" }],
      timestamp: 7,
    });
    expect([message.role, answer.role]).toEqual(["user", "assistant"]);
    const failed = (errorMessage: string) =>
      isContextOverflow({ ...answer, stopReason: "error", errorMessage });
    for (const { phrase } of OVERFLOW_PHRASES) expect(failed(`400: ${phrase}`)).toBe(true);
    expect(failed("401: no such key")).toBe(false);
    expect(isContextOverflow(answer)).toBe(false);
  });

  test("helpers: role, model message, turn, and setting a turn, which does not change an application's message [TYP-14]", () => {
    const id = { loopId: "s.a.1", turnIndex: 0 };
    const messages: AgentMessage[] = [buildUserMessage("hi", 1), answer, extension];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "extension"]);
    expect(messages.map((message) => getTurnId(setTurnId(message, id)))).toEqual([id, id, undefined]);
    expect(setTurnId(extension, id)).toBe(extension);
    expect(getTurnId(answer)).toBeUndefined();
  });

  test("everything survives JSON without loss [TYP-20.1-4]", () => {
    const lossless = (schema: { parse(value: unknown): unknown }, values: fc.Arbitrary<unknown>) =>
      fc.assert(
        fc.property(values, (value) => {
          const parsed = schema.parse(value);
          expect(parsed).toEqual(value);
          expect(schema.parse(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed);
        }),
        { numRuns: 50 },
      );
    lossless(Content, anyContent);
    lossless(Message, anyMessage);
    lossless(AgentMessage, fc.oneof(anyMessage, anyExtension));
    lossless(ExtensionMessage, anyExtension);
    lossless(Usage, anyUsage);
    lossless(StopReason, fc.constantFrom(...StopReason.options));
    const flags = object({
      cacheSystem: fc.boolean(),
      cacheTools: fc.boolean(),
      cacheMessages: fc.boolean(),
    });
    const strategy = fc.oneof(fc.constantFrom("auto", "disabled"), flags);
    lossless(CacheConfig, object({ enabled: fc.boolean(), strategy }));
    const batched = object({ type: fc.constant("batched"), size: fc.integer({ min: 1, max: 99 }) });
    lossless(ToolStrategy, fc.oneof(fc.constantFrom({ type: "sequential" }, { type: "parallel" }), batched));
    lossless(ContextConfig, fc.constant(ContextConfig.parse({})));
    lossless(Limits, fc.constantFrom(Limits.parse({}), Limits.parse({ maxTurns: null, maxCostUsd: 0.5 })));
    const tagged = object({ type: fc.constantFrom("rerun", "branch"), tag: anyText });
    const plain = fc.constantFrom({ type: "initial" }, { type: "default" }, { type: "compaction" });
    lossless(ContinuationKind, fc.oneof(plain, tagged));
    lossless(TurnTrigger, fc.constantFrom(...TurnTrigger.options));
    lossless(StreamDelta, object({ type: fc.constantFrom("text", "thinking", "toolCall"), delta: anyText }));
  });
});

describe("a model request", () => {
  const model = anthropic("claude-opus-5-5");

  test("a tool's definition is name, description and parameters, without anything executable [TYP-17]", () => {
    expect(Object.keys(ToolDefinition.shape)).toEqual(["name", "description", "parameters"]);
    const definition = { name: "t", description: "d", parameters: { type: "object" } };
    expect(ToolDefinition.parse({ ...definition, execute: () => undefined })).toEqual(definition);
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  test("a request names model, prompt, messages, tools, thinking, limits and caching; the model alone selects the provider [TYP-18.1-3]", () => {
    const request: ModelRequest = {
      model,
      systemPrompt: "",
      messages: [],
      tools: [],
      thinking: "off",
      cache: CacheConfig.parse({}),
    };
    expect(Object.keys(request)).toEqual(["model", "systemPrompt", "messages", "tools", "thinking", "cache"]);
    const old = { ...request, model: anthropic("claude-opus-4-6") };
    expect(buildAnthropicRequest(old)).toMatchObject({
      model: "claude-opus-4-6",
      max_tokens: old.model.maxTokens,
    });
    expect(buildAnthropicRequest({ ...old, maxTokens: 5, temperature: 0.1 })).toMatchObject({
      max_tokens: 5,
      temperature: 0.1,
    });
    for (const name of ["modelId", "id", "api", "provider", "baseUrl"])
      expect(request).not.toHaveProperty(name);
  });

  test("thinking is off to high, off by default, parsed in any letter case [TYP-22.1-2, X-23.1]", () => {
    expect(AgentDefinition.parse({ model }).thinking).toBe("off");
    for (const level of ["off", "minimal", "low", "medium", "high"]) {
      for (const written of [level, level.toUpperCase(), level[0]?.toUpperCase() + level.slice(1)]) {
        expect(AgentDefinition.parse({ model, thinking: written }).thinking).toBe(level);
      }
    }
    expect(ThinkingLevel.safeParse("enormous").success).toBe(false);
  });

  test("caching is on and automatic by default; it can be off, or set for each position [CACHE-01.1-2]", () => {
    expect(AgentDefinition.parse({ model }).cache).toEqual({ enabled: true, strategy: "auto" });
    const byHand = { cacheSystem: true, cacheTools: false, cacheMessages: true };
    for (const strategy of ["auto", "disabled", byHand]) {
      expect(CacheConfig.parse({ strategy })).toEqual({ enabled: true, strategy });
    }
    expect(CacheConfig.safeParse({ strategy: "often" }).success).toBe(false);
    expect(CacheConfig.safeParse({ strategy: { cacheSystem: true } }).success).toBe(false);
  });

  test("a model's configuration has these fields and these defaults [PROV-02.1]", () => {
    const said = {
      id: "m-1",
      api: "openai_completions",
      provider: "somebody",
      baseUrl: "https://api.example/v1",
      contextWindow: 1000,
    };
    expect(ModelConfig.parse(said)).toEqual({
      ...said,
      reasoning: false,
      maxTokens: 8192,
      cost: null,
      headers: {},
    });
    const whole = {
      ...said,
      name: "A model",
      apiKey: "${SOME_KEY}",
      reasoning: true,
      input: ["image" as const, "pdf" as const],
      maxTokens: 5,
      cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
      headers: { "x-a": "b" },
      compat: OpenAiCompat.parse({}),
      serviceTier: "flex",
      thinkingStyle: "level",
      thinkingBetweenTools: true,
      effort: "low",
      verbosity: "high",
      apiVersion: "2025-01-01-preview",
    };
    expect(ModelConfig.parse(whole)).toEqual(whole);
    expect(ModelConfig.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    expect(Object.keys(ModelConfig.shape).sort()).toEqual(Object.keys(whole).sort());
    for (const api of [...Protocol.options, "custom_mine"])
      expect(ModelConfig.safeParse({ ...said, api }).success).toBe(true);
    const refused: object[] = [
      ...Object.keys(said).map((name) => ({ [name]: undefined })),
      ...[{ id: "" }, { provider: "" }, { baseUrl: "nowhere" }, { api: "anthropic" }, { api: "custom_" }],
      ...[{ contextWindow: 0 }, { maxTokens: 0 }, { maxTokens: 1.5 }, { cost: { input: -1 } }],
      ...[{ apiKey: "sk-a-key-itself" }, { thinkingStyle: "hard" }, { temperature: 1 }],
    ];
    for (const one of refused)
      expect([one, ModelConfig.safeParse({ ...said, ...one }).success]).toEqual([one, false]);
  });

  test("the flags of servers that speak chat completions, and their defaults [PROV-14]", () => {
    expect(OpenAiCompat.parse({})).toEqual({
      supportsStore: false,
      supportsDeveloperRole: false,
      supportsReasoningEffort: false,
      supportsUsageInStreaming: true,
      maxTokensField: "max_tokens",
      requiresToolResultName: false,
      requiresAssistantAfterToolResult: false,
      thinkingFormat: "openai",
    });
    expect(OpenAiCompat.shape.maxTokensField.unwrap().options).toEqual([
      "max_tokens",
      "max_completion_tokens",
    ]);
    expect(OpenAiCompat.shape.thinkingFormat.unwrap().options).toEqual([
      "openai",
      "xai",
      "qwen",
      "openrouter",
    ]);
    expect(OpenAiCompat.safeParse({ supportsEverything: true }).success).toBe(false);
  });

  test("limits and retries have these defaults [LIM-01.1, RTY-01.1]", () => {
    const { limits, retry } = AgentDefinition.parse({ model });
    expect(limits).toEqual({
      maxTurns: 50,
      maxTotalTokens: 1_000_000,
      maxDurationMs: 600_000,
      maxCostUsd: null,
      maxToolCalls: null,
    });
    expect(retry).toEqual({
      maxRetries: 3,
      initialDelayMs: 1000,
      backoffMultiplier: 2,
      maxDelayMs: 30_000,
    });
  });

  test("one value switches off both context management and limits [CTX-17.1-2]", () => {
    const agent = { model, systemPrompt: "S", limits: { maxTurns: 3 } };
    const unbounded = AgentDefinition.parse(removeContextManagement(agent));
    expect(unbounded.context).toBeNull();
    expect(Object.values(unbounded.limits)).toEqual([null, null, null, null, null]);
    expect(unbounded.systemPrompt).toBe("S");
    expect(AgentDefinition.parse(agent).limits.maxTurns).toBe(3);
  });
});
