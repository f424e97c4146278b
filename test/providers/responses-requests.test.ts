import fc from "fast-check";
import OpenAI, { AzureOpenAI } from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { azure, type ModelOptions, openaiResponses } from "../../src/config/vendor-models.ts";
import { buildFinalTool } from "../../src/conversation/final-tool.ts";
import { AzureOpenAiResponses } from "../../src/models/azure-openai-responses/azure-openai-responses.ts";
import { buildCompletionsRequest } from "../../src/models/openai-completions/request.ts";
import { OpenAiResponses } from "../../src/models/openai-responses/openai-responses.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { buildResponsesRequest } from "../../src/models/responses/request.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import { createHttp, createRequest } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

// The same request, sent by our adapters and by the vendor's SDK, whose types check our reading of the API: the server
// must receive the same JSON at the same path.

const pool = createHttp();
afterAll(async () => await pool.close());

const KEY = "test-key-0123456789";
const signal = new AbortController().signal;
const text = (value: string, signature?: object): Content => ({
  type: "text",
  text: value,
  ...(signature && { signature: JSON.stringify(signature) }),
});
const user = (...content: (string | Content)[]): Message => ({
  role: "user",
  content: content.map((part) => (typeof part === "string" ? text(part) : part)),
  timestamp: 1,
});
const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const by =
  (provider: string) =>
  (...content: Content[]): Message => ({
    role: "assistant",
    content,
    stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
    model: "m",
    provider,
    usage,
    timestamp: 1,
  });
const own = by("openai");
const foreign = by("anthropic");
const calls = (id: string, args: unknown, signature?: object): Content => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: args,
  ...(signature && { signature: JSON.stringify(signature) }),
});
const result = (toolCallId: string, content: Content[], isError = false): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content,
  isError,
  timestamp: 1,
});
const thought = (thinking: string, item?: object): Content => ({
  type: "thinking",
  thinking,
  ...(item && { signature: JSON.stringify(item) }),
});
const image: Content = { type: "image", data: "aGk=", mimeType: "image/png" };
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file", parameters };
const closed = { ...parameters, additionalProperties: false };

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;

const base = {
  model: "gpt-6-sol",
  stream: true,
  store: false,
  include: ["reasoning.encrypted_content"],
  max_output_tokens: 8192,
} satisfies Body;
const hi: Item = { role: "user", content: [{ type: "input_text", text: "hi" }] };
const said = (id: string, ...texts: string[]): Item => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: texts.map((one) => ({ type: "output_text", text: one, annotations: [] })),
});
const called = (call_id: string, args: string, more: object = {}): Item => ({
  type: "function_call",
  call_id,
  name: "read",
  arguments: args,
  ...more,
});
const output = (call_id: string, value: string): Item => ({
  type: "function_call_output",
  call_id,
  output: value,
});
const png = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGk=" } as const;
const reasoning = {
  id: "rs_1",
  type: "reasoning" as const,
  summary: [{ type: "summary_text" as const, text: "hm" }],
  encrypted_content: "gAAA",
};
const search = {
  id: "ws_1",
  type: "web_search_call" as const,
  status: "completed" as const,
  action: { type: "search" as const, query: "x", queries: ["x"] },
};
const tool = { type: "function" as const, strict: false, ...read };
const message = (id: string, phase?: string) => ({ type: "message", id, ...(phase && { phase }) });

const REQUESTS: Record<string, [Partial<ModelRequest> & { options?: ModelOptions }, Partial<Body>]> = {
  "a prompt": [{}, { input: [hi] }],
  "a system prompt and a limit": [
    { systemPrompt: "Be brief.", maxTokens: 100 },
    { instructions: "Be brief.", max_output_tokens: 100, input: [hi] },
  ],
  "a limit below what the API takes": [{ maxTokens: 1 }, { max_output_tokens: 16, input: [hi] }],
  "a limit above what the model has": [
    { maxTokens: 9000, options: { maxTokens: 500 } },
    { max_output_tokens: 500, input: [hi] },
  ],
  "a temperature, which a model that reasons does not take": [{ temperature: 0.2 }, { input: [hi] }],
  "a blank system prompt": [{ systemPrompt: " \n" }, { input: [hi] }],
  "a service tier": [{ options: { serviceTier: "flex" } }, { service_tier: "flex", input: [hi] }],
  "thinking, minimal": [
    { thinking: "minimal" },
    { reasoning: { effort: "low", summary: "auto" }, input: [hi] },
  ],
  "thinking, low": [{ thinking: "low" }, { reasoning: { effort: "low", summary: "auto" }, input: [hi] }],
  "thinking, medium": [
    { thinking: "medium" },
    { reasoning: { effort: "medium", summary: "auto" }, input: [hi] },
  ],
  "thinking, high": [{ thinking: "high" }, { reasoning: { effort: "high", summary: "auto" }, input: [hi] }],
  "a tool that must be called": [
    { tools: [read], forcedTool: "read" },
    { tools: [tool], tool_choice: { type: "function", name: "read" }, input: [hi] },
  ],
  "a final tool": [
    { tools: [buildFinalTool({ type: "json-schema", schema: closed })] },
    {
      tools: [{ ...tool, ...buildFinalTool({ type: "json-schema", schema: closed }) }],
      input: [hi],
    },
  ],
  "an answer of a schema, strict where it can be [SO-01]": [
    { output: { type: "json-schema", schema: closed, name: "file" } },
    { text: { format: { type: "json_schema", name: "file", schema: closed, strict: true } }, input: [hi] },
  ],
  "an answer of a schema that leaves fields out": [
    { output: { type: "json-schema", schema: parameters } },
    {
      text: { format: { type: "json_schema", name: "final_answer", schema: parameters, strict: false } },
      input: [hi],
    },
  ],
  "an answer that is any object, of which the input must speak": [
    { output: { type: "json" } },
    {
      text: { format: { type: "json_object" } },
      input: [{ role: "developer", content: "The final answer is one JSON object." }, hi],
    },
  ],
  "calls in parallel and their results": [
    {
      tools: [read],
      messages: [
        user("hi"),
        own(text("I look."), calls("call_1", { path: "a" }), calls("call_2", { path: "b" })),
        result("call_1", [text("A")]),
        result("call_2", [text("no such"), text("file")], true),
        user("and?"),
      ],
    },
    {
      tools: [tool],
      input: [
        hi,
        said("msg_1", "I look."),
        called("call_1", '{"path":"a"}'),
        called("call_2", '{"path":"b"}'),
        output("call_1", "A"),
        output("call_2", "no such\nfile"),
        { role: "user", content: [{ type: "input_text", text: "and?" }] },
      ],
    },
  ],
  "images in prompts and results": [
    { messages: [user("see", image), own(calls("c", {})), result("c", [text("look"), image])] },
    {
      input: [
        { role: "user", content: [{ type: "input_text", text: "see" }, png] },
        called("c", "{}"),
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "look" }, png] },
      ],
    },
  ],
  "a result of nothing, and one that is missing": [
    { messages: [user("hi"), own(calls("a", {}), calls("b", {})), result("a", [])] },
    {
      input: [
        hi,
        called("a", "{}"),
        called("b", "{}"),
        output("a", ""),
        output("b", "No result is known for this call."),
      ],
    },
  ],
  "own reasoning, messages and calls, as they came [TYP-02, X-35]": [
    {
      messages: [
        user("hi"),
        own(
          thought("hm", reasoning),
          text("First,", message("msg_a", "commentary")),
          text("second.", message("msg_a", "commentary")),
          calls("call_1", { path: "a" }, { type: "function_call", id: "fc_1", namespace: "files" }),
        ),
        result("call_1", [text("A")]),
        own(text("Done.", message("msg_b", "final_answer"))),
        user("hi"),
      ],
    },
    {
      input: [
        hi,
        reasoning,
        { ...(said("msg_a", "First,", "second.") as object), phase: "commentary" } as Item,
        called("call_1", '{"path":"a"}', { id: "fc_1", namespace: "files" }),
        output("call_1", "A"),
        { ...(said("msg_b", "Done.") as object), phase: "final_answer" } as Item,
        hi,
      ],
    },
  ],
  "a search of the vendor's own, and what it cites": [
    {
      messages: [
        user("hi"),
        own(
          thought("", { ...reasoning, summary: [] }),
          { type: "vendor", kind: "web_search_call", data: search },
          text("x is y", {
            type: "message",
            id: "msg_a",
            annotations: [
              { type: "url_citation", url: "https://x", title: "X", start_index: 0, end_index: 1 },
            ],
          }),
        ),
        user("hi"),
      ],
    },
    {
      input: [
        hi,
        { ...reasoning, summary: [] },
        search as Item,
        {
          type: "message",
          id: "msg_a",
          role: "assistant",
          status: "completed",
          content: [
            {
              type: "output_text",
              text: "x is y",
              annotations: [
                { type: "url_citation", url: "https://x", title: "X", start_index: 0, end_index: 1 },
              ],
            },
          ],
        },
        hi,
      ],
    },
  ],
  "reasoning that nothing came of": [
    {
      messages: [
        user("hi"),
        { ...own(thought("hm", reasoning)), stopReason: "length" } as Message,
        user("hi"),
      ],
    },
    { input: [hi, hi] },
  ],
  "reasoning that cannot go back takes the ids with it": [
    {
      messages: [
        user("hi"),
        own(
          thought("hm"),
          text("Yes.", message("msg_a", "final_answer")),
          calls("c", {}, { type: "function_call", id: "fc_1" }),
        ),
        result("c", [text("A")]),
      ],
    },
    {
      input: [
        hi,
        said("msg_1", "[Reasoning] hm"),
        { ...(said("msg_2", "Yes.") as object), phase: "final_answer" } as Item,
        called("c", "{}"),
        output("c", "A"),
      ],
    },
  ],
  "what another vendor has thought, signed and searched [XLAT-03]": [
    {
      messages: [
        user("hi"),
        foreign(
          { type: "thinking", thinking: "hm", signature: "EqQB" },
          { type: "thinking", thinking: "", signature: "EqQB", redacted: true },
          { type: "vendor", kind: "server_tool_use", data: { type: "server_tool_use", id: "s" } },
          text("Well.", message("msg_x", "final_answer")),
          calls("x".repeat(70), "not an object"),
        ),
        result("x".repeat(70), [text("bad arguments")]),
      ],
    },
    {
      input: [
        hi,
        said("msg_1", "[Reasoning] hm"),
        said("msg_2", "Well."),
        called("x".repeat(64), "{}"),
        output("x".repeat(64), "bad arguments"),
      ],
    },
  ],
  "a signature of chat completions, by the same vendor, is not one of this protocol": [
    {
      messages: [
        user("hi"),
        own(
          { type: "thinking", thinking: "hm", signature: '[{"type":"reasoning.encrypted"}]' },
          text("Yes."),
        ),
      ],
    },
    { input: [hi, said("msg_1", "[Reasoning] hm"), said("msg_2", "Yes.")] },
  ],
  "unicode, long texts and half a character": [
    { messages: [user("Grüße 🌍 \u0000"), own(text("é".repeat(20_000))), user("x\ud83c")] },
    {
      input: [
        { role: "user", content: [{ type: "input_text", text: "Grüße 🌍 \u0000" }] },
        said("msg_1", "é".repeat(20_000)),
        { role: "user", content: [{ type: "input_text", text: "x\ufffd" }] },
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

describe("requests to the Responses API are what OpenAI's SDK sends [PROV-17.1-2, THK-03]", () => {
  test.each(Object.entries(REQUESTS))("%s", async (_name, [{ options, ...request }, params]) => {
    const ours = await exchange((url) =>
      new OpenAiResponses({ http: pool }).stream(
        createRequest(openaiResponses("gpt-6-sol", { maxTokens: 8192, ...options, baseUrl: `${url}/v1` }), {
          apiKey: KEY,
          ...request,
        }),
        { signal },
      ),
    );
    const theirs = await exchange((url) =>
      new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 }).responses.create({
        ...base,
        ...params,
      } as Body),
    );
    expect(ours.sent).toEqual(theirs.sent);
    expect(ours.sent.url).toBe("/v1/responses");
    expect(ours.headers.authorization).toBe(theirs.headers.authorization);
  });

  test("models that do not reason accept a temperature, and no encrypted reasoning is requested of them", () => {
    const body = buildResponsesRequest(createRequest(openaiResponses("gpt-4.1"), { temperature: 0.2 }));
    expect(body).toMatchObject({ temperature: 0.2 });
    expect(body).not.toHaveProperty("include");
    const chat = buildResponsesRequest(
      createRequest(openaiResponses("gpt-5-chat-latest"), { temperature: 0.2 }),
    );
    expect(chat).toMatchObject({ temperature: 0.2 });
    expect(chat).not.toHaveProperty("include");
    const other = openaiResponses("some/model");
    expect(buildResponsesRequest(createRequest(other, { temperature: 0.2 }))).toMatchObject({
      temperature: 0.2,
      include: ["reasoning.encrypted_content"],
    });
    for (const [model, thinking] of [
      [other, "low"],
      [{ ...other, reasoning: true }, "off"],
    ] as const)
      expect(buildResponsesRequest(createRequest(model, { temperature: 0.2, thinking }))).not.toHaveProperty(
        "temperature",
      );
  });
});

test("an effort by OpenAI's own name, and the verbosity [THK-03]", () => {
  const sent = (options: ModelOptions, more: Partial<ModelRequest> = {}) =>
    buildResponsesRequest(createRequest(openaiResponses("gpt-6-sol", { maxTokens: 8192, ...options }), more));
  expect(sent({ effort: "xhigh" }, { thinking: "low" }).reasoning).toEqual({
    effort: "xhigh",
    summary: "auto",
  });
  expect(sent({ effort: "none" }, { temperature: 0.2 })).toMatchObject({
    reasoning: { effort: "none" },
    temperature: 0.2,
  });
  expect(sent({ effort: "none" }, { temperature: 0.2 }).reasoning).not.toHaveProperty("summary");
  expect(sent({}, {})).not.toHaveProperty("reasoning");
  expect(buildResponsesRequest(createRequest(openaiResponses("o3", { effort: "none" })))).not.toHaveProperty(
    "reasoning",
  );
  expect(sent({ verbosity: "high" }).text).toEqual({ verbosity: "high" });
  expect(sent({ verbosity: "high" }, { output: { type: "json" } }).text).toEqual({
    format: { type: "json_object" },
    verbosity: "high",
  });
});

describe("Azure", () => {
  const body = { ...base, model: "prod", input: [hi] } satisfies Body;
  const asked = async (
    baseUrl: (url: string) => string,
    options: ModelOptions = {},
    apiKey: string | undefined = KEY,
  ) =>
    await exchange((url) =>
      new AzureOpenAiResponses({ http: pool }).stream(
        createRequest(azure("prod", { baseUrl: baseUrl(url), ...options }), {
          apiKey,
          ...(options.headers && { apiKey: undefined, headers: options.headers }),
        }),
        { signal },
      ),
    );

  test("the current form is the SDK's request at /openai/v1, with the key in Azure's own header [PROV-19.1-2]", async () => {
    const ours = await asked((url) => url);
    const theirs = await exchange((url) =>
      new OpenAI({ apiKey: KEY, baseURL: `${url}/openai/v1`, maxRetries: 0 }).responses.create(body),
    );
    expect(ours.sent).toEqual(theirs.sent);
    expect(ours.headers).toMatchObject({ "api-key": KEY });
    expect(ours.headers).not.toHaveProperty("authorization");
  });

  test("the dated form is what Azure's own client sends [PROV-19.1]", async () => {
    const apiVersion = "2025-04-01-preview";
    const ours = await asked((url) => url, { apiVersion });
    const theirs = await exchange((url) =>
      new AzureOpenAI({ apiKey: KEY, endpoint: url, apiVersion, maxRetries: 0 }).responses.create(body),
    );
    expect(ours.sent).toEqual(theirs.sent);
    expect(ours.headers["api-key"]).toBe(theirs.headers["api-key"]);
    expect(ours.headers).not.toHaveProperty("authorization");
  });

  test("an Entra ID token is sent in its own header, without a key [PROV-19.3]", async () => {
    const { headers } = await asked((url) => url, { headers: { Authorization: "Bearer ${ENTRA_TOKEN}" } });
    expect(headers.authorization).toBe("Bearer ${ENTRA_TOKEN}");
    expect(headers).not.toHaveProperty("api-key");
  });
});

describe("conversations in the form that the API accepts", () => {
  const anyPart: fc.Arbitrary<Content> = fc.oneof(
    fc.constantFrom(
      text("x"),
      text("y", message("msg_y")),
      text(" "),
      thought("hm", reasoning),
      thought("hm"),
      image,
      { type: "vendor", kind: "web_search_call", data: search } as Content,
      { type: "thinking", thinking: "t", signature: "{broken" } as Content,
    ),
    fc
      .tuple(fc.constantFrom("a", "b", "", "x y", "z".repeat(80)), fc.jsonValue())
      .map(([id, args]) => calls(id, args)),
  );
  const anyMessage: fc.Arbitrary<Message> = fc.oneof(
    fc.constant(user("u")),
    fc
      .tuple(fc.array(anyPart, { maxLength: 5 }), fc.constantFrom("openai", "anthropic"))
      .map(([content, provider]) => by(provider)(...content)),
    fc.constantFrom("a", "b", "").map((id) => result(id, [text("r")])),
  );
  const sent = (messages: Message[]) =>
    buildResponsesRequest(createRequest(openaiResponses("gpt-6-sol"), { messages }))
      .input as unknown as Record<string, unknown>[];

  test("property: each call has one result, under an id of the API's form; nothing is empty; reasoning is followed by its outcome", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        const items = sent(messages);
        const ids = (type: string) =>
          items.filter((item) => item["type"] === type).map((item) => item["call_id"]);
        expect([...ids("function_call_output")].sort()).toEqual([...ids("function_call")].sort());
        expect(new Set(ids("function_call")).size).toBe(ids("function_call").length);
        for (const [at, item] of items.entries()) {
          expect(item["content"] ?? "x").not.toEqual([]);
          if (item["type"] !== "reasoning") continue;
          const next = items[at + 1];
          expect([next?.["role"], next?.["type"]]).not.toEqual(["user", undefined]);
          expect(next?.["type"]).toMatch(/^(message|function_call|web_search_call|reasoning)$/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("property: appending whole turns appends to the request, as caches require [CACHE-05.2, CACHE-06.2]", () => {
    const whole = fc
      .tuple(fc.array(anyPart, { maxLength: 4 }), fc.constantFrom("openai", "anthropic"))
      .map(([content, provider]) => {
        const parts = content.filter(({ type }) => type !== "toolCall");
        return [user("u"), by(provider)(...parts, calls("c", {})), result("c", [text("r")])];
      });
    fc.assert(
      fc.property(fc.array(whole, { maxLength: 4 }), whole, (turns, more) => {
        const before = sent(turns.flat());
        expect(sent([...turns.flat(), ...more]).slice(0, before.length)).toEqual(before);
      }),
    );
  });

  test("thinking of a model of this protocol is text in chat completions, under the same name too [XLAT-03.2]", () => {
    const model = { ...openaiResponses("gpt-6-sol"), api: "openai_completions" as const };
    const messages = [user("hi"), own(thought("hm", reasoning), text("x", message("msg_a")))];
    expect(buildCompletionsRequest(createRequest(model, { messages })).messages[1]).toEqual({
      role: "assistant",
      content: "[Reasoning] hm\n\nx",
    });
  });

  test("the same conversation in chat completions contains nothing that is specific to this protocol", () => {
    const messages = [
      user("hi"),
      own(
        thought("hm", reasoning),
        { type: "vendor", kind: "web_search_call", data: search },
        text("x", message("msg_a")),
      ),
    ];
    const model = { ...openaiResponses("gpt-6-sol"), api: "openai_completions" as const };
    expect(JSON.stringify(buildCompletionsRequest(createRequest(model, { messages })))).not.toMatch(
      /gAAA|msg_a|ws_1/,
    );
  });
});
