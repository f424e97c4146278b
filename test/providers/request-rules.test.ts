import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropic, local, openai, openrouter } from "../../src/config/vendor-models.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import { describeClaudeModel } from "../../src/models/claude-model.ts";
import {
  buildThinkingFields,
  MIN_ANSWER,
  MIN_BUDGET,
  THINKING_BUDGETS,
} from "../../src/models/claude-thinking-fields.ts";
import { buildCompletionsRequest } from "../../src/models/openai-completions/request.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AssistantMessage, Content, Message } from "../../src/schema/message.ts";
import { OpenAiCompat, type ThinkingLevel } from "../../src/schema/model.ts";
import { createDefaultTools } from "../../src/tools/builtin/default-tools.ts";
import { toToolDefinition } from "../../src/tools/tool.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { anyGrapheme } from "../support/any-grapheme.ts";
import { createRequest } from "./answer-reader.ts";

const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const said = (content: Content[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
  model: "m",
  provider: "anthropic",
  usage,
  timestamp: 1,
  ...more,
});
const call = (id: string, name = "t"): Content => ({ type: "toolCall", id, name, arguments: {} });
const result = (toolCallId: string, text = "ok"): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});
const thought = (signature?: string): Content => ({
  type: "thinking",
  thinking: "hm",
  ...(signature && { signature }),
});
const toClaude = (messages: Message[], more: Partial<ModelRequest> = {}, id = "claude-sonnet-4-5") =>
  buildAnthropicRequest(createRequest(anthropic(id), { messages, ...more }));
const shape = (messages: Message[], more: Partial<ModelRequest> = {}) =>
  toClaude(messages, more).messages.map(
    ({ role, content }) => `${role}: ${content.map(({ type }) => type).join(" ")}`,
  );

describe("thinking in Claude's API", () => {
  test("has the table of budgets, clamped to what the API accepts; it is off by default, and then not sent [THK-01.1-2, X-23.1-2]", () => {
    expect(AgentDefinition.parse({ model: anthropic("claude-sonnet-4-5") }).thinking).toBe("off");
    expect(toClaude([user("hi")], { thinking: "off" })).not.toHaveProperty("thinking");
    expect(THINKING_BUDGETS).toEqual({ minimal: 128, low: 512, medium: 2048, high: 8192 });
    const budget = (level: ThinkingLevel) =>
      buildThinkingFields("claude-sonnet-4-5", level, 16_000, 64_000).thinking;
    expect(budget("off")).toBeUndefined();
    expect(budget("minimal")).toEqual({ type: "enabled", budget_tokens: 1024 });
    expect(budget("low")).toEqual({ type: "enabled", budget_tokens: 1024 });
    expect(budget("medium")).toEqual({ type: "enabled", budget_tokens: 2048 });
    expect(budget("high")).toEqual({ type: "enabled", budget_tokens: 8192 });
    expect(toClaude([user("hi")], { thinking: "medium" })).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 2048 },
    });
  });

  test("leaves room for the answer: the limit rises as far as the model allows, then the budget falls", () => {
    expect(buildThinkingFields("claude-sonnet-4-5", "high", 1000, 64_000)).toMatchObject({
      max_tokens: 8192 + MIN_ANSWER,
    });
    expect(buildThinkingFields("claude-sonnet-4-5", "high", 8192, 8192)).toEqual({
      max_tokens: 8192,
      thinking: { type: "enabled", budget_tokens: 8192 - MIN_ANSWER },
    });
    expect(buildThinkingFields("claude-sonnet-4-5", "high", 1500, 1500)).toEqual({ max_tokens: 1500 });
  });

  test("property: follows the API's two rules for every level and limit [X-23.2]", () => {
    const levels = fc.constantFrom<ThinkingLevel>("off", "minimal", "low", "medium", "high");
    fc.assert(
      fc.property(
        levels,
        fc.integer({ min: 1, max: 70_000 }),
        fc.integer({ min: 1, max: 70_000 }),
        (level, a, b) => {
          const limit = Math.max(a, b);
          const fields = buildThinkingFields("claude-sonnet-4-5", level, Math.min(a, b), limit);
          expect(fields.max_tokens).toBeLessThanOrEqual(limit);
          if (fields.thinking?.type !== "enabled") return;
          expect(fields.thinking.budget_tokens).toBeGreaterThanOrEqual(MIN_BUDGET);
          expect(fields.max_tokens).toBeGreaterThanOrEqual(fields.thinking.budget_tokens + MIN_ANSWER);
        },
      ),
    );
  });

  test.each([
    ["claude-3-5-sonnet-20241022", "budget"],
    ["claude-3-haiku-20240307", "budget"],
    ["claude-2.1", "budget"],
    ["claude-sonnet-4-20250514", "budget"],
    ["claude-opus-4-0", "budget"],
    ["claude-sonnet-4-5-20250929", "budget"],
    ["claude-sonnet-4-5@20250929", "budget"],
    ["anthropic/claude-haiku-4.5", "budget"],
    ["claude-opus-4-6", "budget"],
    ["my-own-model", "budget"],
    ["claude-opus-4-7", "adaptive"],
    ["claude-opus-4.7", "adaptive"],
    ["claude-opus-4-8-20260601", "adaptive"],
    ["claude-sonnet-5", "adaptive"],
    ["claude-opus-5-5", "adaptive"],
    ["claude-haiku-5-5", "adaptive"],
    ["claude-fable-5-2", "adaptive"],
    ["claude-mythos-preview", "adaptive"],
  ])("of %s is of the type %s", (id, kind) => expect(describeClaudeModel(id).thinking).toBe(kind));

  test("of newer models has an effort, and never a temperature [THK-01.3]", () => {
    const body = toClaude([user("hi")], { thinking: "minimal", temperature: 0.5 }, "claude-opus-5-5");
    expect(body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
      max_tokens: 128_000,
    });
    expect(body).not.toHaveProperty("temperature");
    const off = toClaude([user("hi")], { temperature: 0.5 }, "claude-opus-5-5");
    expect(Object.keys(off)).toEqual(["model", "max_tokens", "stream", "messages"]);
  });

  test("is not switched on in the middle of a turn that began without it", () => {
    const began = [user("hi"), said([call("a")]), result("a")];
    expect(toClaude(began, { thinking: "high" })).not.toHaveProperty("thinking");
    expect(toClaude(began, { thinking: "high" }, "claude-opus-5")).toHaveProperty("thinking");
    expect(toClaude([...began, user("go on")], { thinking: "high" })).toHaveProperty("thinking");
    // Without interleaved thinking only the first answer of a turn has any.
    const thinking = [
      user("hi"),
      said([thought("s"), call("a")]),
      result("a"),
      said([call("b")]),
      result("b"),
    ];
    expect(toClaude(thinking, { thinking: "high" })).toHaveProperty("thinking");
  });

  test("of other vendors, and without a signature, is dropped, and so is a message that contains nothing else", () => {
    const foreign = { provider: "openai" };
    expect(
      shape([user("a"), said([thought("s")], foreign), user("b"), said([thought()]), user("c")]),
    ).toEqual(["user: text", "user: text", "user: text"]);
    expect(shape([user("a"), said([thought("s"), { type: "text", text: "x" }])])).toEqual([
      "user: text",
      "assistant: thinking text",
    ]);
  });
});

describe("a vendor's signature", () => {
  const anySignature = fc.string({ minLength: 1, unit: anyGrapheme });

  test("is sent back to it unchanged, on every later turn, and to no other [TYP-02.1, X-35, XLAT-03.1]", () => {
    fc.assert(
      fc.property(anySignature, anySignature, (signature, blob) => {
        const signed: Content[] = [
          { type: "thinking", thinking: "hm", signature },
          { type: "thinking", thinking: "", signature: blob, redacted: true },
          { type: "text", text: "x" },
        ];
        const later = [user("a"), said(signed), user("b"), said([{ type: "text", text: "y" }]), user("c")];
        expect(toClaude(later).messages[1]?.content.slice(0, 2)).toEqual([
          { type: "thinking", thinking: "hm", signature },
          { type: "redacted_thinking", data: blob },
        ]);
        const elsewhere = (provider: string) => said(signed, { provider });
        expect(toClaude([user("a"), elsewhere("openrouter")]).messages[1]?.content).toEqual([
          { type: "text", text: "x" },
        ]);
        for (const model of [openai("gpt-4.1"), openrouter("a/b"), local("http://h", "m")]) {
          const chat = buildCompletionsRequest(createRequest(model, { messages: [user("a"), said(signed)] }));
          expect(chat.messages[1]).toEqual({ role: "assistant", content: "[Reasoning] hm\n\nx" });
        }
      }),
    );
  });

  test("is stored with OpenRouter's thinking, and sent back unchanged [TYP-02.2, X-35]", () => {
    fc.assert(
      fc.property(anySignature, (signature) => {
        const details = [{ type: "reasoning.encrypted", data: signature, format: "f" }];
        const own = said(
          [{ type: "thinking", thinking: "", signature: JSON.stringify(details) }, call("c")],
          {
            provider: "openrouter",
          },
        );
        const chat = buildCompletionsRequest(
          createRequest(openrouter("a/b"), { messages: [user("a"), own, result("c")] }),
        );
        expect(chat.messages[1]).toMatchObject({ reasoning_details: details });
      }),
    );
  });
});

describe("cache breakpoints", () => {
  const marks = (
    cache: ModelRequest["cache"],
    messages: Message[] = [user("a"), said([call("x"), thought("s")]), result("x")],
  ) => {
    const tools = ["t", "u"].map((name) => ({ name, description: "", parameters: { type: "object" } }));
    const body = toClaude(messages, { cache, tools, systemPrompt: "S" });
    const marked = (items: readonly object[] | undefined) =>
      (items ?? []).map((item) => "cache_control" in item);
    return [marked(body.system), marked(body.tools), ...body.messages.map(({ content }) => marked(content))];
  };

  test("auto: three, on the last of system, tools and the second-to-last message; never on a block of thinking [CACHE-02.1, X-22]", () => {
    expect(marks({ enabled: true, strategy: "auto" })).toEqual([
      [true],
      [false, true],
      [false],
      [true, false],
      [false],
    ]);
    const twoBlocks = said([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]);
    expect(marks({ enabled: true, strategy: "auto" }, [user("a"), twoBlocks, user("b")])).toEqual([
      [true],
      [false, true],
      [false],
      [false, true],
      [false],
    ]);
    const body = toClaude([user("a")], { cache: { enabled: true, strategy: "auto" }, systemPrompt: "S" });
    expect(body.system?.[0]).toHaveProperty("cache_control", { type: "ephemeral" });
  });

  test("auto: none on messages if there is no second-to-last one", () => {
    expect(marks({ enabled: true, strategy: "auto" }, [user("a")])).toEqual([[true], [false, true], [false]]);
  });

  test.each([
    [{ enabled: false, strategy: "auto" }],
    [{ enabled: true, strategy: "disabled" }],
    [{ enabled: false, strategy: { cacheSystem: true, cacheTools: true, cacheMessages: true } }],
  ] as const)("%j: none [CACHE-03.2]", (cache) => expect(marks(cache).flat()).not.toContain(true));

  test("each flag sets its own [CACHE-03.1]", () => {
    const strategy = { cacheSystem: false, cacheTools: false, cacheMessages: false };
    const at = (flag: keyof typeof strategy) =>
      marks({ enabled: true, strategy: { ...strategy, [flag]: true } });
    expect(at("cacheSystem")).toEqual([[true], [false, false], [false], [false, false], [false]]);
    expect(at("cacheTools")).toEqual([[false], [false, true], [false], [false, false], [false]]);
    expect(at("cacheMessages")).toEqual([[false], [false, false], [false], [true, false], [false]]);
  });
});

describe("conversations in the form that vendors accept", () => {
  test("failed and refused answers are not sent, nor are their results", () => {
    const broken = (stopReason: AssistantMessage["stopReason"]) => said([call("x")], { stopReason });
    const messages = [
      user("a"),
      broken("error"),
      result("x"),
      broken("aborted"),
      broken("guardRail"),
      user("b"),
    ];
    expect(shape(messages)).toEqual(["user: text", "user: text"]);
    expect(shape([user("a"), said([], { stopReason: "error" })])).toEqual(["user: text"]);
  });

  test("blank text is left out", () => {
    expect(
      shape([user("a"), user(" \n"), said([{ type: "text", text: "" }, call("x")]), result("x", "")]),
    ).toEqual(["user: text", "assistant: tool_use", "user: tool_result"]);
  });

  test("every call is followed by its result: late ones move up, missing ones become errors, orphans are dropped", () => {
    const messages = [
      result("old"),
      user("a"),
      said([call("x"), call("y")]),
      user("wait"),
      result("x"),
      said([call("z")]),
    ];
    const body = toClaude(messages);
    expect(shape(messages)).toEqual([
      "user: text",
      "assistant: tool_use tool_use",
      "user: tool_result tool_result",
      "user: text",
      "assistant: tool_use",
      "user: tool_result",
    ]);
    expect(body.messages[2]?.content[1]).toMatchObject({ tool_use_id: "y", is_error: true });
  });

  test("equal ids, within a turn and across turns, become unique, and results stay paired", () => {
    const turn = [
      said([call("call_1"), call("call_1")]),
      result("call_1", "first"),
      result("call_1", "second"),
    ];
    const body = toClaude([user("a"), ...turn, ...turn]);
    const pairs = body.messages.flatMap(({ content }) =>
      content.flatMap((block): unknown[] => {
        if (block.type === "tool_use") return [block.id];
        return block.type === "tool_result"
          ? [[block.tool_use_id, (block.content[0] as { text: string }).text]]
          : [];
      }),
    );
    expect(pairs).toEqual([
      "call_1",
      "call_1_2",
      ["call_1", "first"],
      ["call_1_2", "second"],
      "call_1_3",
      "call_1_4",
      ["call_1_3", "first"],
      ["call_1_4", "second"],
    ]);
  });

  const anyId = fc.oneof(
    fc.string({ maxLength: 90, unit: anyGrapheme }),
    fc.constantFrom("", "a", "a|b", "x".repeat(80)),
  );
  const anyContent = fc.array(
    fc.oneof(
      fc.constant<Content>({ type: "text", text: "x" }),
      fc.constant<Content>({ type: "text", text: " " }),
      fc.constant<Content>(thought("s")),
      fc.tuple(anyId, fc.string({ maxLength: 70 })).map(([id, name]) => call(id, name)),
    ),
    { maxLength: 4 },
  );
  const anyMessage: fc.Arbitrary<Message> = fc.oneof(
    fc.constant(user("u")),
    fc
      .record({ content: anyContent, provider: fc.constantFrom("anthropic", "openai", "mistral") })
      .map(({ content, provider }) => said(content, { provider })),
    anyId.map((id) => result(id)),
  );

  test("property: any messages become calls with results, unique valid ids and no empty message, in both protocols", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        const seen = new Set<string>();
        const { messages: wire } = toClaude(messages);
        for (const [at, { role, content }] of wire.entries()) {
          expect(content.length).toBeGreaterThan(0);
          const ids = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
          for (const id of ids) {
            expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            expect(seen.has(id)).toBe(false);
            seen.add(id);
          }
          if (role !== "assistant" || ids.length === 0) continue;
          const next = wire[at + 1]?.content ?? [];
          expect(
            next.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])).sort(),
          ).toEqual(ids.sort());
        }
        for (const model of [openai("gpt-4.1"), { ...local("http://h", "m"), provider: "mistral" }]) {
          const chat = buildCompletionsRequest(createRequest(model, { messages })).messages;
          for (const [at, message] of chat.entries()) {
            if (message.role !== "assistant" || message.tool_calls === undefined) continue;
            const ids = message.tool_calls.map(({ id }) => id);
            const answers = chat.slice(at + 1, at + 1 + ids.length);
            expect(
              answers.map((answer) => (answer.role === "tool" ? answer.tool_call_id : "")).sort(),
            ).toEqual(ids.sort());
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test("system prompt and tools are the same in every turn, in the definition's order [CACHE-06.1]", () => {
    const names = ["write_file", "bash", "read_file"];
    const registry = new ToolRegistry(createDefaultTools());
    const asked = (messages: Message[]) => {
      const resolved = registry.resolve(names);
      if (!resolved.ok) throw new Error(resolved.errors.join());
      return { messages, tools: resolved.tools.map(toToolDefinition), systemPrompt: "S" };
    };
    const turns = [
      asked([user("a")]),
      asked([user("a"), said([call("x"), call("y")]), result("x"), result("y"), user("b")]),
    ];
    const [first, later] = turns.map((more) =>
      buildAnthropicRequest(createRequest(anthropic("claude-sonnet-4-5"), more)),
    );
    expect(first?.tools?.map(({ name }) => name)).toEqual(names);
    expect(JSON.stringify([later?.system, later?.tools])).toBe(JSON.stringify([first?.system, first?.tools]));
    const [begun, gone] = turns.map((more) =>
      buildCompletionsRequest(createRequest(openai("gpt-4.1"), more)),
    );
    expect(JSON.stringify([gone?.tools, gone?.messages[0]])).toBe(
      JSON.stringify([begun?.tools, begun?.messages[0]]),
    );
  });

  test("property: appending whole turns appends to the request, as caches require [CACHE-06.2]", () => {
    const wholeTurn = fc
      .array(anyId, { maxLength: 3 })
      .map((ids) => [user("u"), said(ids.map((id) => call(id))), ...ids.map((id) => result(id))]);
    fc.assert(
      fc.property(fc.array(wholeTurn, { maxLength: 5 }), wholeTurn, (turns, more) => {
        const before = toClaude(turns.flat()).messages;
        const after = toClaude([...turns.flat(), ...more]).messages;
        expect(after.slice(0, before.length)).toEqual(before);
      }),
    );
  });
});

describe("flags of servers that speak chat completions (PROV-16)", () => {
  const turn = [user("a"), said([call("c")], { provider: "local" }), result("c"), user("b")];
  const body = (flags: Partial<OpenAiCompat>, more: Partial<ModelRequest> = {}) =>
    buildCompletionsRequest(
      createRequest(local("http://h", "m", { compat: OpenAiCompat.parse(flags) }), {
        systemPrompt: "S",
        ...more,
      }),
    );

  test("each changes the request", () => {
    expect(body({}).messages[0]).toEqual({ role: "system", content: "S" });
    expect(body({ supportsDeveloperRole: true }).messages[0]).toEqual({ role: "developer", content: "S" });
    expect(body({})).not.toHaveProperty("store");
    expect(body({ supportsStore: true })).toHaveProperty("store", false);
    expect(body({})).toHaveProperty("stream_options", { include_usage: true });
    expect(body({ supportsUsageInStreaming: false })).not.toHaveProperty("stream_options");
    expect(body({})).toHaveProperty("max_tokens", 8192);
    expect(body({ maxTokensField: "max_completion_tokens" })).toHaveProperty("max_completion_tokens", 8192);
    expect(body({ requiresToolResultName: true }, { messages: turn }).messages[3]).toMatchObject({
      role: "tool",
      name: "t",
    });
    const roles = (flags: Partial<OpenAiCompat>) =>
      body(flags, { messages: turn }).messages.map(({ role }) => role);
    expect(roles({})).toEqual(["system", "user", "assistant", "tool", "user"]);
    expect(roles({ requiresAssistantAfterToolResult: true })).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
  });

  test.each([
    ["off", {}],
    ["minimal", { reasoning_effort: "low" }],
    ["low", { reasoning_effort: "low" }],
    ["medium", { reasoning_effort: "medium" }],
    ["high", { reasoning_effort: "high" }],
  ] as const)("effort of %s, only if the server accepts one [THK-02.1-2]", (thinking, fields) => {
    const pick = ({ reasoning_effort, reasoning, enable_thinking }: ReturnType<typeof body>) =>
      JSON.parse(JSON.stringify({ reasoning_effort, reasoning, enable_thinking }));
    expect(pick(body({ supportsReasoningEffort: true }, { thinking }))).toEqual(fields);
    expect(pick(body({ supportsReasoningEffort: true, thinkingFormat: "xai" }, { thinking }))).toEqual(
      fields,
    );
    expect(pick(body({}, { thinking }))).toEqual({});
    expect(pick(body({ thinkingFormat: "qwen" }, { thinking }))).toEqual({
      enable_thinking: thinking !== "off",
    });
    const effort = "reasoning_effort" in fields ? { reasoning: { effort: fields.reasoning_effort } } : {};
    expect(pick(body({ thinkingFormat: "openrouter" }, { thinking }))).toEqual(effort);
  });

  test("OpenAI's newer models do not reason if they have functions, and reasoning ones receive no temperature", () => {
    const tools = [{ name: "t", description: "", parameters: { type: "object" } }];
    const ask = (id: string, more: Partial<ModelRequest>) =>
      buildCompletionsRequest(createRequest(openai(id), { temperature: 0.3, ...more }));
    expect(ask("gpt-5.6-sol", { tools, thinking: "high" })).toMatchObject({
      reasoning_effort: "none",
      temperature: 0.3,
    });
    expect(ask("gpt-6-luna", { tools })).toMatchObject({ reasoning_effort: "none" });
    expect(ask("gpt-5.6-sol", { thinking: "high" })).toMatchObject({ reasoning_effort: "high" });
    expect(ask("gpt-5.1", { tools, thinking: "high" })).toMatchObject({ reasoning_effort: "high" });
    expect(ask("gpt-4.1", { tools })).not.toHaveProperty("reasoning_effort");
    expect(ask("gpt-4.1", {})).toHaveProperty("temperature", 0.3);
    expect(ask("o3", {})).not.toHaveProperty("temperature");
    expect(ask("gpt-5-mini", {})).not.toHaveProperty("temperature");
  });

  test("own reasoning is sent back where the format requires it, and nowhere else", () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "s" }];
    const messages = (provider: string) => [
      user("a"),
      said([{ type: "thinking", thinking: "hm", signature: JSON.stringify(details) }, call("c")], {
        provider,
      }),
      result("c"),
    ];
    const asked = (model: ReturnType<typeof local>) =>
      buildCompletionsRequest(createRequest(model, { messages: messages(model.provider) })).messages[1];
    expect(asked(openrouter("a/b"))).toMatchObject({ content: null, reasoning_details: details });
    expect(asked({ ...local("http://h", "m"), provider: "deepseek" })).toMatchObject({
      reasoning_content: "hm",
    });
    expect(Object.keys(asked(local("http://h", "m"))!)).toEqual(["role", "content", "tool_calls"]);
  });

  test("Mistral receives ids of nine letters and digits", () => {
    const messages = [
      user("a"),
      said([call("toolu_01"), call("toolu_02")]),
      result("toolu_01"),
      result("toolu_02"),
    ];
    const model = { ...local("http://h", "m"), provider: "mistral" };
    const chat = buildCompletionsRequest(createRequest(model, { messages })).messages;
    const ids = chat[1]?.role === "assistant" ? (chat[1].tool_calls ?? []).map(({ id }) => id) : [];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  });
});
