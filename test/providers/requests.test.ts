import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { anthropic, local, openai } from "../../src/config/vendor-models.ts";
import { buildFinalTool } from "../../src/conversation/final-tool.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { COMPAT_PRESETS, resolveCompat } from "../../src/models/openai-completions/compat.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import { createHttp, createRequest } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

// The same request, sent by our adapter and by the vendor's SDK, whose types check our reading of the API: the server
// must receive the same JSON at the same path.

const pool = createHttp();
afterAll(async () => await pool.close());

const KEY = "test-key-0123456789";
const signal = new AbortController().signal;
const text = (value: string) => ({ type: "text" as const, text: value });
const user = (...content: (string | Content)[]): Message => ({
  role: "user",
  content: content.map((part) => (typeof part === "string" ? text(part) : part)),
  timestamp: 1,
});
const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const assistant = (provider: string, ...content: Content[]): Message => ({
  role: "assistant",
  content,
  stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
  model: "m",
  provider,
  usage,
  timestamp: 1,
});
const calls = (id: string, name: string, args: unknown): Content => ({
  type: "toolCall",
  id,
  name,
  arguments: args,
});
const result = (toolCallId: string, content: Content[], isError = false): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError,
  timestamp: 1,
});
const image: Content = { type: "image", data: "aGk=", mimeType: "image/png" };
const parameters = { type: "object" as const, properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file", parameters };
const auto = { enabled: true, strategy: "auto" } as const;

/** The later version of the API, which the SDK uses, has no temperature; ours has one. */
type AnthropicBody = Anthropic.MessageCreateParamsStreaming & { readonly temperature?: number };
const CLAUDE = "claude-opus-4-6";
const base = { model: CLAUDE, max_tokens: 8192, stream: true } as const;
const mark = { cache_control: { type: "ephemeral" } } as const;
const hi = { role: "user" as const, content: [text("hi")] };

const closed = { ...parameters, additionalProperties: false };
const answer = { type: "json-schema", schema: closed } as const;

const ANTHROPIC: Record<string, [Partial<ModelRequest>, AnthropicBody]> = {
  "a prompt": [{}, { ...base, messages: [hi] }],
  "a system prompt, a temperature, a limit": [
    { systemPrompt: "Be brief.", temperature: 0.2, maxTokens: 100 },
    { ...base, max_tokens: 100, temperature: 0.2, system: [text("Be brief.")], messages: [hi] },
  ],
  "tools, calls in parallel, results in one message": [
    {
      tools: [read],
      messages: [
        user("hi"),
        assistant(
          "anthropic",
          text("I look."),
          calls("toolu_1", "read", { path: "a" }),
          calls("toolu_2", "read", { path: "b" }),
        ),
        result("toolu_1", [text("A")]),
        result("toolu_2", [text("no such file")], true),
        user("and?"),
      ],
    },
    {
      ...base,
      tools: [{ name: "read", description: "Reads a file", input_schema: parameters }],
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            text("I look."),
            { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } },
            { type: "tool_use", id: "toolu_2", name: "read", input: { path: "b" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: [text("A")], is_error: false },
            { type: "tool_result", tool_use_id: "toolu_2", content: [text("no such file")], is_error: true },
          ],
        },
        { role: "user", content: [text("and?")] },
      ],
    },
  ],
  "images in prompts and results": [
    { messages: [user("see", image), assistant("anthropic", calls("t", "read", {})), result("t", [image])] },
    {
      ...base,
      messages: [
        {
          role: "user",
          content: [
            text("see"),
            { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "read", input: {} }] },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "t",
              content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }],
              is_error: false,
            },
          ],
        },
      ],
    },
  ],
  "a final tool that must be called [SO-01]": [
    { tools: [read, buildFinalTool(answer)], forcedTool: "final_answer" },
    {
      ...base,
      messages: [hi],
      tools: [
        { name: "read", description: "Reads a file", input_schema: parameters },
        {
          name: "final_answer",
          description: buildFinalTool(answer).description,
          input_schema: closed,
        },
      ],
      tool_choice: { type: "tool", name: "final_answer" },
    },
  ],
  "thinking with a budget, its own blocks unmodified": [
    {
      thinking: "medium",
      temperature: 0.5,
      messages: [
        user("hi"),
        assistant(
          "anthropic",
          { type: "thinking", thinking: "hm", signature: "s1==" },
          { type: "thinking", thinking: "", signature: "blob", redacted: true },
          calls("t", "read", { path: "a" }),
        ),
        result("t", [text("A")]),
      ],
    },
    {
      ...base,
      thinking: { type: "enabled", budget_tokens: 2048 },
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s1==" },
            { type: "redacted_thinking", data: "blob" },
            { type: "tool_use", id: "t", name: "read", input: { path: "a" } },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t", content: [text("A")], is_error: false }],
        },
      ],
    },
  ],
  "cache breakpoints on system, tools and the second-to-last message": [
    {
      systemPrompt: "S",
      tools: [{ ...read, name: "other" }, read],
      cache: auto,
      messages: [user("hi"), assistant("anthropic", text("one"), text("two")), user("more")],
    },
    {
      ...base,
      system: [{ ...text("S"), ...mark }],
      tools: [
        { name: "other", description: "Reads a file", input_schema: parameters },
        { name: "read", description: "Reads a file", input_schema: parameters, ...mark },
      ],
      messages: [
        hi,
        { role: "assistant", content: [text("one"), { ...text("two"), ...mark }] },
        { role: "user", content: [text("more")] },
      ],
    },
  ],
  "a conversation from another vendor": [
    {
      messages: [
        user("hi"),
        assistant(
          "openai",
          { type: "thinking", thinking: "hm", signature: "enc" },
          calls("call|1", "read", "{broken"),
        ),
        result("call|1", [text("bad arguments")], true),
      ],
    },
    {
      ...base,
      messages: [
        hi,
        { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "read", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [text("bad arguments")], is_error: true },
          ],
        },
      ],
    },
  ],
};

type CompletionsBody = OpenAI.ChatCompletionCreateParamsStreaming;
const chat = { model: "m", stream: true, stream_options: { include_usage: true }, max_tokens: 8192 } as const;
const gpt = {
  model: "gpt-5-mini",
  stream: true,
  stream_options: { include_usage: true },
  max_completion_tokens: 8192,
  store: false,
} as const;
const called = (id: string, args: string) => ({
  id,
  type: "function" as const,
  function: { name: "read", arguments: args },
});
const functionTool = {
  type: "function" as const,
  function: { name: "read", description: "Reads a file", parameters },
};

const COMPLETIONS: Record<string, [Partial<ModelRequest>, CompletionsBody]> = {
  "a prompt": [{}, { ...chat, messages: [{ role: "user", content: "hi" }] }],
  "a system prompt, a temperature, a limit": [
    { systemPrompt: "Be brief.", temperature: 0.2, maxTokens: 100 },
    {
      ...chat,
      max_tokens: 100,
      temperature: 0.2,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    },
  ],
  "OpenAI's own: developer, store, effort": [
    {
      model: openai("gpt-5-mini", { maxTokens: 8192 }),
      systemPrompt: "Be brief.",
      thinking: "minimal",
      temperature: 1,
    },
    {
      ...gpt,
      reasoning_effort: "low",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    },
  ],
  "tools, calls and results": [
    {
      tools: [read],
      messages: [
        user("hi"),
        assistant(
          "local",
          text("I look."),
          calls("c1", "read", { path: "a" }),
          calls("c2", "read", { path: "b" }),
        ),
        result("c1", [text("A"), text("B")]),
        result("c2", [text("no such file")], true),
      ],
    },
    {
      ...chat,
      tools: [functionTool],
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [called("c1", '{"path":"a"}'), called("c2", '{"path":"b"}')],
        },
        { role: "tool", tool_call_id: "c1", content: "A\nB" },
        { role: "tool", tool_call_id: "c2", content: "no such file" },
      ],
    },
  ],
  "images in prompts and results": [
    { messages: [user("see", image), assistant("local", calls("c", "read", {})), result("c", [image])] },
    {
      ...chat,
      messages: [
        {
          role: "user",
          content: [text("see"), { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }],
        },
        { role: "assistant", content: null, tool_calls: [called("c", "{}")] },
        { role: "tool", tool_call_id: "c", content: "(see the attached image)" },
        {
          role: "user",
          content: [
            text("Attached by read:"),
            { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          ],
        },
      ],
    },
  ],
  "an output of a closed schema, beside tools [SO-01]": [
    { tools: [read], output: { ...answer, name: "report" } },
    {
      ...chat,
      messages: [{ role: "user", content: "hi" }],
      tools: [functionTool],
      response_format: {
        type: "json_schema",
        json_schema: { name: "report", schema: closed, strict: true },
      },
    },
  ],
  "an output of an open schema [SO-01]": [
    { output: { type: "json-schema", schema: parameters } },
    {
      ...chat,
      messages: [{ role: "user", content: "hi" }],
      response_format: {
        type: "json_schema",
        json_schema: { name: "final_answer", schema: parameters, strict: false },
      },
    },
  ],
  "an output of any JSON object [SO-01]": [
    { systemPrompt: "JSON.", output: { type: "json" } },
    {
      ...chat,
      messages: [
        { role: "system", content: "JSON." },
        { role: "user", content: "hi" },
      ],
      response_format: { type: "json_object" },
    },
  ],
  "a tool that must be called [SO-01]": [
    { tools: [read], forcedTool: "read" },
    {
      ...chat,
      messages: [{ role: "user", content: "hi" }],
      tools: [functionTool],
      tool_choice: { type: "function", function: { name: "read" } },
    },
  ],
  "a conversation from another vendor": [
    {
      messages: [
        user("hi"),
        assistant(
          "anthropic",
          { type: "thinking", thinking: "hm", signature: "s" },
          text("Well."),
          calls("x".repeat(60), "read", null),
        ),
        result("x".repeat(60), [text("bad arguments")], true),
      ],
    },
    {
      ...chat,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "[Reasoning] hm\n\nWell.", tool_calls: [called("x".repeat(40), "{}")] },
        { role: "tool", tool_call_id: "x".repeat(40), content: "bad arguments" },
      ],
    },
  ],
};

async function exchange(ask: (url: string) => Promise<unknown>) {
  const server = await LoopbackServer.start((response) => response.writeHead(400).end("seen"));
  await ask(server.url).catch(() => undefined);
  await server.stop();
  const [{ url, headers, body }] = server.received as [(typeof server.received)[0]];
  return { sent: { url, type: headers["content-type"], body: JSON.parse(body) as unknown }, headers };
}

describe("requests to Anthropic are what its SDK sends [PROV-08.1-2, PROV-11.1-2]", () => {
  test.each(Object.entries(ANTHROPIC))("%s", async (_name, [request, params]) => {
    const ours = await exchange((url) =>
      new AnthropicMessages({ http: pool }).stream(
        createRequest(anthropic(CLAUDE, { baseUrl: url, maxTokens: 8192 }), { apiKey: KEY, ...request }),
        { signal },
      ),
    );
    const theirs = await exchange((url) =>
      new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 }).messages.create(params),
    );
    expect(ours.sent).toEqual(theirs.sent);
    expect(ours.sent.url).toBe("/v1/messages");
    // The SDK has moved to a later version of the API; the vendor still supports the one that we use.
    expect(ours.headers).toMatchObject({ "anthropic-version": "2023-06-01", "x-api-key": KEY });
  });
});

describe("requests to chat completions are what OpenAI's SDK sends [PROV-13.1]", () => {
  test.each(Object.entries(COMPLETIONS))("%s", async (_name, [request, params]) => {
    const ours = await exchange((url) => {
      const model = { ...(request.model ?? local(url, "m")), baseUrl: `${url}/v1` };
      return new OpenAiCompletions({ http: pool }).stream(
        createRequest(model, { apiKey: KEY, ...request, model }),
        { signal },
      );
    });
    const theirs = await exchange((url) =>
      new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create(params),
    );
    expect(ours.sent).toEqual(theirs.sent);
    expect(ours.sent.url).toBe("/v1/chat/completions");
    expect(ours.headers.authorization).toBe(theirs.headers.authorization);
  });
});

test("pin: the presets, selected by the provider's name [PROV-15]", () => {
  for (const [provider, preset] of Object.entries(COMPAT_PRESETS)) {
    expect(resolveCompat({ ...local("http://h", "m"), provider })).toEqual(preset);
  }
  expect(resolveCompat({ ...local("http://h", "m"), provider: "somebody" })).toEqual(COMPAT_PRESETS.local);
  const flags = (name: keyof typeof COMPAT_PRESETS) =>
    Object.entries(COMPAT_PRESETS[name])
      .filter(([, value]) => value !== false)
      .map(([flag, value]) => (value === true ? flag : value));
  expect(
    Object.fromEntries(Object.keys(COMPAT_PRESETS).map((name) => [name, flags(name as "openai")])),
  ).toEqual({
    openai: [
      "supportsStore",
      "supportsDeveloperRole",
      "supportsReasoningEffort",
      "supportsUsageInStreaming",
      "max_completion_tokens",
      "openai",
    ],
    xai: ["supportsUsageInStreaming", "max_tokens", "xai"],
    groq: ["supportsUsageInStreaming", "max_tokens", "openai"],
    cerebras: ["supportsUsageInStreaming", "max_tokens", "openai"],
    openrouter: ["supportsDeveloperRole", "supportsUsageInStreaming", "max_tokens", "openrouter"],
    mistral: ["supportsUsageInStreaming", "max_tokens", "openai"],
    deepseek: ["supportsUsageInStreaming", "max_completion_tokens", "openai"],
    local: ["supportsUsageInStreaming", "max_tokens", "openai"],
  });
});
