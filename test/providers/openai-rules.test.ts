import { describe, expect, test } from "vitest";
import {
  azure,
  local,
  type ModelOptions,
  openai,
  openaiResponses,
  openrouter,
} from "../../src/config/vendor-models.ts";
import { deriveCacheKey } from "../../src/models/cache-key.ts";
import { buildCompletionsRequest } from "../../src/models/openai-completions/request.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { buildResponsesRequest } from "../../src/models/responses/request.ts";
import type { AssistantMessage, Content, Message } from "../../src/schema/message.ts";
import { type ModelConfig, OpenAiCompat } from "../../src/schema/model.ts";
import { createRequest } from "./answer-reader.ts";

// Fields that some models of OpenAI's protocols receive and others do not.

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

test("an effort by OpenAI's own name overrides the level, and each model receives the nearest one that it accepts [THK-02.2]", () => {
  const sent = (id: string, effort: ModelConfig["effort"], thinking: ModelRequest["thinking"] = "off") =>
    buildCompletionsRequest(createRequest(openai(id, { effort }), { thinking })).reasoning_effort;
  const all = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
  const nearest = (id: string) => all.map((effort) => sent(id, effort) ?? "-").join(" ");
  expect(nearest("o3")).toBe("- low low medium high high");
  expect(nearest("gpt-5-mini-2025-08-07")).toBe("- minimal low medium high high");
  expect(nearest("gpt-5-pro")).toBe("- high high high high high");
  expect(nearest("gpt-5-codex")).toBe("- low low medium high high");
  expect(nearest("gpt-5.1")).toBe("none low low medium high high");
  expect(nearest("gpt-5.1-codex-max")).toBe("- low low medium high xhigh");
  expect(nearest("gpt-5.2")).toBe("none low low medium high xhigh");
  expect(nearest("gpt-5.2-pro")).toBe("- medium medium medium high xhigh");
  expect(nearest("gpt-5.3-codex")).toBe("- low low medium high xhigh");
  expect(nearest("gpt-5.10")).toBe(nearest("gpt-5.2"));
  expect(nearest("gpt-6-sol")).toBe(nearest("gpt-5.2"));
  expect(nearest("our-own")).toBe("- low low medium high high");
  expect(sent("gpt-5.2", "xhigh", "low")).toBe("xhigh");
  expect(sent("gpt-5-mini", undefined, "minimal")).toBe("low");
  expect(sent("gpt-5-pro", undefined, "low")).toBe("high");
  expect(sent("gpt-5.2", undefined)).toBeUndefined();
  const router = openrouter("openai/gpt-5.2", { effort: "none" });
  expect(buildCompletionsRequest(createRequest(router)).reasoning).toEqual({ effort: "none" });
  const tempered = createRequest(openai("gpt-5.2", { effort: "none" }), { temperature: 0.3 });
  expect(buildCompletionsRequest(tempered)).toHaveProperty("temperature", 0.3);
});

test("the configured verbosity is sent", () => {
  expect(buildCompletionsRequest(createRequest(openai("gpt-5.2", { verbosity: "low" })))).toHaveProperty(
    "verbosity",
    "low",
  );
  expect(buildCompletionsRequest(createRequest(openai("gpt-5.2")))).not.toHaveProperty("verbosity");
});

describe("the cache's key [CACHE-05.2]", () => {
  const on = { enabled: true, strategy: "auto" } as const;
  const key = deriveCacheKey("agent/secret-name");
  const sent = (model: ModelConfig, cache: ModelRequest["cache"] = on) =>
    (model.api === "openai_completions" ? buildCompletionsRequest : buildResponsesRequest)(
      createRequest(model, { cacheKey: key, cache }),
    ).prompt_cache_key;
  const deployed = (more: ModelOptions) => azure("prod", { baseUrl: "https://r.openai.azure.com", ...more });

  test("reveals nothing of the session, is deterministic and short", () => {
    expect(key).toMatch(/^[\w-]{32}$/);
    expect(key).toBe(deriveCacheKey("agent/secret-name"));
    expect(deriveCacheKey("agent/secret-namf")).not.toBe(key);
  });

  test("is sent to OpenAI and Azure", () => {
    for (const model of [openai("gpt-5"), openaiResponses("gpt-5"), deployed({})])
      expect(sent(model)).toBe(key);
  });

  test("is not sent to servers that may reject it, nor without a cache", () => {
    const named = (model: ModelConfig, provider: string) => ({ ...model, provider });
    const compat = OpenAiCompat.parse({});
    for (const model of [
      openrouter("openai/gpt-5"),
      local("http://h", "m"),
      named(openai("m"), "groq"),
      openai("m", { compat }),
      named(openaiResponses("m"), "openrouter"),
      named(openaiResponses("m"), "bedrock"),
      deployed({ apiVersion: "2025-04-01-preview" }),
      deployed({ baseUrl: "https://r.openai.azure.com/openai?api-version=2025-04-01-preview" }),
      deployed({ baseUrl: "https://r.openai.azure.com/openai/deployments/d" }),
    ])
      expect([model.provider, sent(model)]).toEqual([model.provider, undefined]);
    for (const cache of [
      { ...on, enabled: false },
      { ...on, strategy: "disabled" as const },
    ])
      for (const model of [openai("gpt-5"), openaiResponses("gpt-5")])
        expect(sent(model, cache)).toBeUndefined();
  });
});

describe("cache marks for OpenRouter", () => {
  const history = [
    user("a"),
    said([call("x")], { provider: "openrouter" }),
    result("x"),
    said([{ type: "text", text: "it is b" }], { provider: "openrouter" }),
    user("c"),
  ];
  const marks = (
    id: string,
    cache: ModelRequest["cache"],
    messages: Message[] = history,
    model = openrouter(id),
  ) =>
    buildCompletionsRequest(createRequest(model, { cache, messages, systemPrompt: "S" })).messages.map(
      ({ content }) =>
        (typeof content === "string" ? [] : (content ?? [])).map((part) => "cache_control" in part),
    );
  const on = { enabled: true, strategy: "auto" } as const;
  const claude = "anthropic/claude-opus-4.6";

  test("are on the system prompt and the newest message, for the models that need them", () => {
    expect(marks(claude, on)).toEqual([[true], [], [], [], [], [true]]);
    expect(marks(claude, on, history.slice(0, 3))).toEqual([[true], [], [], [true]]);
    const body = buildCompletionsRequest(createRequest(openrouter(claude), { cache: on, systemPrompt: "S" }));
    expect(body.messages[0]).toEqual({
      role: "developer",
      content: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
    });
    const image: Content = { type: "image", data: "aGk=", mimeType: "image/png" };
    const pictured: Message[] = [
      { role: "user", content: [{ type: "text", text: "a" }, image], timestamp: 1 },
    ];
    expect(marks(claude, on, pictured)).toEqual([[true], [true, false]]);
    const bare: Message[] = [user("a"), { role: "user", content: [image], timestamp: 1 }];
    expect(marks(claude, on, bare)).toEqual([[true], [true], [false]]);
  });

  test.each([
    ["openai/gpt-5.2", on, openrouter("openai/gpt-5.2")],
    [claude, { ...on, enabled: false }, openrouter(claude)],
    [claude, { ...on, strategy: "disabled" as const }, openrouter(claude)],
    [claude, on, local("http://h", claude)],
  ])("are absent: %s, %j [CACHE-03.2, CACHE-05.1]", (id, cache, model) => {
    expect(marks(id, cache, history, model).flat()).toEqual([]);
  });

  test("are independent of each other when set by hand [CACHE-03.1]", () => {
    const none = { cacheSystem: false, cacheTools: false, cacheMessages: false };
    const by = (flags: Partial<typeof none>) =>
      marks(claude, { enabled: true, strategy: { ...none, ...flags } });
    expect(by({})).toEqual([[], [], [], [], [], []]);
    expect(by({ cacheTools: true })).toEqual(by({ cacheSystem: true }));
    expect(by({ cacheSystem: true })).toEqual([[true], [], [], [], [], []]);
    expect(by({ cacheMessages: true })).toEqual([[], [], [], [], [], [true]]);
  });
});
