import { ConverseStreamCommand, type ConverseStreamCommandInput } from "@aws-sdk/client-bedrock-runtime";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { bedrock } from "../../src/config/vendor-models.ts";
import { BedrockConverse, type BedrockOptions } from "../../src/models/bedrock-converse/bedrock-converse.ts";
import { resolveRegion } from "../../src/models/bedrock-converse/resolve-region.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";
import { catchProviderError, createHttp, createRequest } from "./answer-reader.ts";
import {
  createSdkClient,
  createTail,
  encodeStream,
  head,
  type SdkRequest,
  text as textEvents,
} from "./bedrock-stream.ts";
import { LoopbackServer, type ReceivedRequest } from "./loopback-server.ts";

// The same request, sent by our adapter and by Amazon's SDK, whose types check our reading of the API: the server must
// receive the same JSON at the same path, with the same signature.

const pool = createHttp();
afterAll(async () => await pool.close());
beforeEach(() => {
  for (const name of [
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_BEDROCK_CREDENTIALS",
  ])
    vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const signal = new AbortController().signal;
const ANSWER = encodeStream([...head, ...textEvents(0, "hi"), ...createTail("end_turn")]);
const EVENT_STREAM = { "content-type": "application/vnd.amazon.eventstream" };
const NOW = Date.UTC(2026, 10, 22, 12, 34, 56);
const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const PAIR = `${KEYS.accessKeyId}:${KEYS.secretAccessKey}`;
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "us.amazon.nova-pro-v1:0";

const text = (value: string) => ({ type: "text" as const, text: value });
const user = (...content: (string | Content)[]): Message => ({
  role: "user",
  content: content.map((part) => (typeof part === "string" ? text(part) : part)),
  timestamp: 1,
});
const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const said = (model: string, ...content: Content[]): Message => ({
  role: "assistant",
  content,
  stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
  model,
  provider: "bedrock",
  usage,
  timestamp: 1,
});
const calls = (id: string, name = "read", args: unknown = { path: "a" }): Content => ({
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
const image = (mimeType = "image/png"): Content => ({ type: "image", data: "aGk=", mimeType });
const parameters = { type: "object" as const, properties: { path: { type: "string" } }, required: ["path"] };
const read = { name: "read", description: "Reads a file", parameters };
const readSpec = {
  toolSpec: { name: "read", description: "Reads a file", inputSchema: { json: parameters } },
};
const auto = { enabled: true, strategy: "auto" } as const;
const point = { cachePoint: { type: "default" as const } };
const hi = { role: "user" as const, content: [{ text: "hi" }] };
const limit = { inferenceConfig: { maxTokens: 8192 } };
const png = { image: { format: "png" as const, source: { bytes: Buffer.from("hi") } } };
const use = (toolUseId: string, name = "read", input: Record<string, string> = { path: "a" }) => ({
  toolUse: { toolUseId, name, input },
});

type Theirs = Omit<ConverseStreamCommandInput, "modelId">;
type Case = [Partial<ModelRequest>, Theirs, string?, Partial<ModelConfig>?];
const CASES: Record<string, Case> = {
  "a prompt": [{}, { messages: [hi], ...limit }],
  "a system prompt, a temperature, a limit": [
    { systemPrompt: "Be brief.", temperature: 0.2, maxTokens: 100 },
    {
      system: [{ text: "Be brief." }],
      messages: [hi],
      inferenceConfig: { maxTokens: 100, temperature: 0.2 },
    },
  ],
  "tools, calls in parallel, results and what the user adds in one message [PROV-24]": [
    {
      tools: [read],
      messages: [
        user("hi"),
        said(CLAUDE, text("I look."), calls("t1"), calls("t2", "read", {})),
        result("t1", [text("A")]),
        result("t2", [text("no such file")], true),
        user("and?"),
      ],
    },
    {
      messages: [
        hi,
        { role: "assistant", content: [{ text: "I look." }, use("t1"), use("t2", "read", {})] },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "t1", content: [{ text: "A" }], status: "success" } },
            { toolResult: { toolUseId: "t2", content: [{ text: "no such file" }], status: "error" } },
            { text: "and?" },
          ],
        },
      ],
      toolConfig: { tools: [readSpec] },
      ...limit,
    },
  ],
  "a model of a vendor that knows no status of a result": [
    { tools: [read], messages: [user("hi"), said("m", calls("t1")), result("t1", [text("A")], true)] },
    {
      messages: [
        hi,
        { role: "assistant", content: [use("t1")] },
        { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ text: "A" }] } }] },
      ],
      toolConfig: { tools: [readSpec] },
      ...limit,
    },
    "us.meta.llama3-3-70b-instruct-v1:0",
  ],
  "images in prompts and results, and one of a type that the API does not take": [
    {
      tools: [read],
      messages: [
        user("see", image(), image("image/tiff")),
        said(CLAUDE, calls("t1")),
        result("t1", [image("image/jpeg")]),
      ],
    },
    {
      messages: [
        {
          role: "user",
          content: [{ text: "see" }, png, { text: "(An image of type image/tiff is omitted.)" }],
        },
        { role: "assistant", content: [use("t1")] },
        {
          role: "user",
          content: [
            {
              toolResult: {
                toolUseId: "t1",
                content: [{ image: { format: "jpeg", source: { bytes: Buffer.from("hi") } } }],
                status: "success",
              },
            },
          ],
        },
      ],
      toolConfig: { tools: [readSpec] },
      ...limit,
    },
  ],
  "blank texts, an empty result, turns that follow each other, a call without a result": [
    {
      tools: [{ ...read, description: " " }],
      messages: [
        user("hi"),
        user("  ", "there"),
        said(CLAUDE, text(""), text("one")),
        said(CLAUDE, text("two"), calls("t1"), calls("t2")),
        result("t1", [text(" ")]),
      ],
    },
    {
      messages: [
        { role: "user", content: [{ text: "hi" }, { text: "there" }] },
        { role: "assistant", content: [{ text: "one" }, { text: "two" }, use("t1"), use("t2")] },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "t1", content: [{ text: "(no output)" }], status: "success" } },
            {
              toolResult: {
                toolUseId: "t2",
                content: [{ text: "No result is known for this call." }],
                status: "error",
              },
            },
          ],
        },
      ],
      toolConfig: { tools: [{ toolSpec: { name: "read", inputSchema: { json: parameters } } }] },
      ...limit,
    },
  ],
  "a conversation that begins with the assistant": [
    { messages: [said(CLAUDE, text("Hello!")), user("hi")] },
    {
      messages: [
        { role: "user", content: [{ text: "(The conversation begins.)" }] },
        { role: "assistant", content: [{ text: "Hello!" }] },
        hi,
      ],
      ...limit,
    },
  ],
  "calls in a conversation that offers no tools any more": [
    { messages: [user("hi"), said(CLAUDE, calls("t1")), result("t1", [text("A")])] },
    {
      messages: [
        hi,
        { role: "assistant", content: [use("t1")] },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "t1", content: [{ text: "A" }], status: "success" } }],
        },
      ],
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "read",
              description: "No longer available. Do not call it.",
              inputSchema: { json: { type: "object" } },
            },
          },
        ],
      },
      ...limit,
    },
  ],
  "ids: those of Bedrock's own models stay, others are made to fit": [
    {
      tools: [read],
      messages: [
        user("hi"),
        said(CLAUDE, calls("functions.read:0")),
        result("functions.read:0", [text("A")]),
        { ...said("gpt", calls("call|ü")), provider: "openai" } as Message,
        result("call|ü", [text("B")]),
      ],
    },
    {
      messages: [
        hi,
        { role: "assistant", content: [use("functions.read:0")] },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "functions.read:0", content: [{ text: "A" }], status: "success" } },
          ],
        },
        { role: "assistant", content: [use("call__")] },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "call__", content: [{ text: "B" }], status: "success" } }],
        },
      ],
      toolConfig: { tools: [readSpec] },
      ...limit,
    },
  ],
  "thinking with a budget, its own blocks unmodified, those of others left out [XLAT-03]": [
    {
      thinking: "high",
      temperature: 0.2,
      messages: [
        user("hi"),
        said(
          CLAUDE,
          { type: "thinking", thinking: "hm", signature: "sig==" },
          { type: "thinking", thinking: "", signature: "eHl6", redacted: true },
          text("one"),
        ),
        {
          ...said("claude-x", { type: "thinking", thinking: "theirs", signature: "s" }, text("two")),
          provider: "anthropic",
        } as Message,
        said(NOVA, { type: "thinking", thinking: "of Nova", signature: "n" }, text("three")),
        said(CLAUDE, { type: "thinking", thinking: "unsigned" }, text("four")),
        user("and?"),
      ],
    },
    {
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "hm", signature: "sig==" } } },
            { reasoningContent: { redactedContent: Buffer.from("xyz") } },
            { text: "one" },
            { text: "two" },
            { text: "three" },
            { text: "four" },
          ],
        },
        { role: "user", content: [{ text: "and?" }] },
      ],
      inferenceConfig: { maxTokens: 20_000 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 8192 } },
    },
    CLAUDE,
    { maxTokens: 20_000 },
  ],
  "what the vendor's own tools did goes back, tokens and blocks of Bedrock's other protocols do not": [
    {
      messages: [
        user("hi"),
        said(
          CLAUDE,
          { type: "thinking", thinking: "hm", signature: '{"id":"rs_1"}' },
          { type: "vendor", kind: "web_search_call", data: { type: "web_search_call", id: "ws_1" } },
          {
            type: "vendor",
            kind: "toolUse",
            data: { toolUse: { toolUseId: "s1", name: "search", type: "server_tool_use", input: {} } },
          },
          {
            type: "vendor",
            kind: "toolResult",
            data: { toolResult: { toolUseId: "s1", type: "search_result", content: [{ text: "found" }] } },
          },
          text("one"),
        ),
        user("and?"),
      ],
    },
    {
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            { toolUse: { toolUseId: "s1", name: "search", type: "server_tool_use", input: {} } },
            { toolResult: { toolUseId: "s1", type: "search_result", content: [{ text: "found" }] } },
            { text: "one" },
          ],
        },
        { role: "user", content: [{ text: "and?" }] },
      ],
      ...limit,
    },
  ],
  "thinking waits while a turn that began without it goes on": [
    {
      thinking: "high",
      tools: [read],
      messages: [user("hi"), said(CLAUDE, calls("t1")), result("t1", [text("A")])],
    },
    {
      messages: [
        hi,
        { role: "assistant", content: [use("t1")] },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "t1", content: [{ text: "A" }], status: "success" } }],
        },
      ],
      toolConfig: { tools: [readSpec] },
      ...limit,
    },
  ],
  "thinking of the newer models of Claude, without a temperature": [
    { thinking: "low", temperature: 0.2 },
    {
      messages: [hi],
      ...limit,
      additionalModelRequestFields: {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "low" },
      },
    },
    "global.anthropic.claude-opus-4-8-v1",
  ],
  "thinking behind an ARN that says nothing": [
    { thinking: "medium" },
    {
      messages: [hi],
      ...limit,
      additionalModelRequestFields: {
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "medium" },
      },
    },
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12",
    { thinkingStyle: "adaptive" },
  ],
  "thinking of Nova 2": [
    { thinking: "medium", temperature: 0.2 },
    {
      messages: [hi],
      inferenceConfig: { maxTokens: 8192, temperature: 0.2 },
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
    },
    "us.amazon.nova-2-lite-v1:0",
  ],
  "thinking of Nova 2 at its highest, which takes no limit": [
    { thinking: "high", temperature: 0.2 },
    {
      messages: [hi],
      additionalModelRequestFields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } },
    },
    "us.amazon.nova-2-lite-v1:0",
  ],
  "thinking of gpt-oss": [
    { thinking: "minimal" },
    { messages: [hi], ...limit, additionalModelRequestFields: { reasoning_effort: "low" } },
    "openai.gpt-oss-120b-1:0",
  ],
  "thinking of OpenAI's other models, encrypted and sent back": [
    {
      thinking: "high",
      messages: [
        user("hi"),
        said(
          "us.openai.gpt-5.6-sol",
          { type: "thinking", thinking: "", signature: "eHl6", redacted: true },
          text("one"),
        ),
        user("and?"),
      ],
    },
    {
      messages: [
        hi,
        {
          role: "assistant",
          content: [{ reasoningContent: { redactedContent: Buffer.from("xyz") } }, { text: "one" }],
        },
        { role: "user", content: [{ text: "and?" }] },
      ],
      ...limit,
      additionalModelRequestFields: { reasoning: { effort: "high" } },
    },
    "us.openai.gpt-5.6-sol",
  ],
  "thinking of a model whose field nobody documents": [
    { thinking: "high" },
    { messages: [hi], ...limit },
    "mistral.mistral-large-2407-v1:0",
  ],
  "cache points on system, tools and the second-to-last message [CACHE-02]": [
    {
      systemPrompt: "Be brief.",
      tools: [read],
      cache: auto,
      messages: [user("hi"), said(CLAUDE, text("yes"), calls("t1")), result("t1", [text("A")])],
    },
    {
      system: [{ text: "Be brief." }, point],
      messages: [
        hi,
        { role: "assistant", content: [{ text: "yes" }, use("t1"), point] },
        {
          role: "user",
          content: [{ toolResult: { toolUseId: "t1", content: [{ text: "A" }], status: "success" } }],
        },
      ],
      toolConfig: { tools: [readSpec, point] },
      ...limit,
    },
  ],
  "a cache point stands before reasoning, never behind it": [
    {
      cache: auto,
      messages: [
        user("hi"),
        said(CLAUDE, text("yes"), { type: "thinking", thinking: "hm", signature: "sig" }),
        user("and?"),
      ],
    },
    {
      messages: [
        hi,
        {
          role: "assistant",
          content: [
            { text: "yes" },
            point,
            { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
          ],
        },
        { role: "user", content: [{ text: "and?" }] },
      ],
      ...limit,
    },
  ],
  "cache points for Nova, which takes none among the tools": [
    { systemPrompt: "Be brief.", tools: [read], cache: auto },
    { system: [{ text: "Be brief." }, point], messages: [hi], toolConfig: { tools: [readSpec] }, ...limit },
    NOVA,
  ],
  "no cache points for a model that refuses them [CACHE-05]": [
    { systemPrompt: "Be brief.", tools: [read], cache: auto },
    { system: [{ text: "Be brief." }], messages: [hi], toolConfig: { tools: [readSpec] }, ...limit },
    "us.meta.llama3-3-70b-instruct-v1:0",
  ],
  "one cache point, as the definition says [CACHE-03]": [
    {
      systemPrompt: "Be brief.",
      tools: [read],
      cache: { enabled: true, strategy: { cacheSystem: false, cacheTools: true, cacheMessages: false } },
      messages: [user("hi"), said(CLAUDE, text("yes")), user("and?")],
    },
    {
      system: [{ text: "Be brief." }],
      messages: [
        hi,
        { role: "assistant", content: [{ text: "yes" }] },
        { role: "user", content: [{ text: "and?" }] },
      ],
      toolConfig: { tools: [readSpec, point] },
      ...limit,
    },
  ],
  "a tool that must be called [SO-01]": [
    { tools: [read], forcedTool: "read" },
    { messages: [hi], toolConfig: { tools: [readSpec], toolChoice: { tool: { name: "read" } } }, ...limit },
  ],
  "no tool must be called while Claude thinks, nor of a model that cannot be told": [
    { tools: [read], forcedTool: "read", thinking: "low" },
    {
      messages: [hi],
      toolConfig: { tools: [readSpec] },
      inferenceConfig: { maxTokens: 8192 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1024 } },
    },
  ],
  "an output that the model is held to [SO-01]": [
    { output: { type: "json-schema", schema: { ...parameters, additionalProperties: false }, name: "file" } },
    {
      messages: [hi],
      ...limit,
      outputConfig: {
        textFormat: {
          type: "json_schema",
          structure: {
            jsonSchema: {
              schema: JSON.stringify({ ...parameters, additionalProperties: false }),
              name: "file",
            },
          },
        },
      },
    },
    "qwen.qwen3-32b-v1:0",
  ],
  "a service tier": [
    {},
    { messages: [hi], ...limit, serviceTier: { type: "flex" } },
    NOVA,
    { serviceTier: "flex" },
  ],
  "letters of every kind": [
    { messages: [user('ü 😀 "quoted" \\ \u2028 \u0000 </s>')] },
    { messages: [{ role: "user", content: [{ text: 'ü 😀 "quoted" \\ \u2028 \u0000 </s>' }] }], ...limit },
  ],
};

async function ours(
  request: Partial<ModelRequest>,
  id = CLAUDE,
  options: Partial<ModelConfig> = {},
  adapter: Partial<BedrockOptions> = {},
): Promise<{ readonly got: ReceivedRequest; readonly url: string }> {
  const server = await LoopbackServer.start((response) => response.writeHead(200, EVENT_STREAM).end(ANSWER));
  const model = { ...bedrock(id, { baseUrl: server.url, maxTokens: 8192 }), ...options };
  const provider = new BedrockConverse({ http: pool, ...adapter });
  await provider.stream(createRequest(model, { apiKey: PAIR, ...request }), { signal, now: () => NOW });
  await server.stop();
  return { got: server.received[0]!, url: server.url };
}

type SdkOptions = Parameters<typeof createSdkClient>[1];

const SDK_ONLY = /^amz-sdk-|^x-amz-user-agent$|^content-length$/;

/** Without the headers that only the SDK sends, which its signature would cover. */
async function theirs(input: ConverseStreamCommandInput, options: SdkOptions = {}): Promise<SdkRequest> {
  let sent: SdkRequest | undefined;
  const client = createSdkClient(
    (request) => {
      sent = request;
      return { headers: EVENT_STREAM, bytes: [ANSWER] };
    },
    { credentials: KEYS, ...options },
  );
  const bare =
    (next: (args: unknown) => Promise<unknown>) => async (args: { readonly request: SdkRequest }) => {
      const { headers } = args.request;
      for (const name of Object.keys(headers)) if (SDK_ONLY.test(name)) delete headers[name];
      return await next(args);
    };
  client.middlewareStack.addRelativeTo(bare as never, {
    relation: "before",
    toMiddleware: "httpSigningMiddleware",
    name: "bare",
  });
  await client.send(new ConverseStreamCommand(input));
  const request = sent!;
  const named = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...request, headers: Object.fromEntries(named) };
}

function bodyOf({ body }: SdkRequest): string {
  return typeof body === "string" ? body : Buffer.from(body as Uint8Array).toString("utf8");
}

describe("requests to Bedrock are what Amazon's SDK sends [PROV-23, PROV-24]", () => {
  test.each(Object.entries(CASES))("%s", async (_name, [request, input, id = CLAUDE, options]) => {
    const { got } = await ours(request, id, options);
    const expected = await theirs({ modelId: id, ...input });
    expect(JSON.parse(got.body)).toEqual(JSON.parse(bodyOf(expected)));
    expect([got.method, got.url]).toEqual([expected.method, expected.path]);
    expect(got.headers["content-type"]).toBe(expected.headers["content-type"]);
  });
});

describe("signatures [X-26.1, PROV-23]", () => {
  const ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a b(c)'!*~ü";

  test.each([
    ["a plain id", "amazon.nova-micro-v1", undefined, {}],
    ["an id with a colon", NOVA, undefined, {}],
    ["an ARN with every kind of sign", ARN, undefined, {}],
    ["a session", CLAUDE, "session/token+==", {}],
    ["another region", CLAUDE, undefined, { AWS_REGION: "eu-central-1" }],
  ] as const)("%s: the same as the SDK's, byte by byte", async (_name, id, sessionToken, environment) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const apiKey = sessionToken === undefined ? PAIR : `${PAIR}:${sessionToken}\n`;
    const { got, url } = await ours({ apiKey }, id);
    vi.useFakeTimers({ toFake: ["Date"], now: NOW });
    const credentials = sessionToken === undefined ? KEYS : { ...KEYS, sessionToken };
    const region = (environment as { AWS_REGION?: string }).AWS_REGION ?? "us-east-1";
    const input = { modelId: id, messages: [hi], ...limit };
    const expected = await theirs(input, { credentials, region, endpoint: url });
    expect(got.url).toBe(expected.path);
    expect(got.body).toBe(bodyOf(expected));
    for (const name of ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"])
      expect([name, got.headers[name]]).toEqual([name, expected.headers[name]]);
    expect(got.headers["authorization"]).toContain(`/20261122/${region}/bedrock/aws4_request`);
  });

  test("a key without a colon is a bearer token, sent as by the SDK [X-26.2]", async () => {
    const { got } = await ours({ apiKey: "bedrock-api-key-YWJj+/==" });
    const expected = await theirs(
      { modelId: CLAUDE, messages: [] },
      { token: { token: "bedrock-api-key-YWJj+/==" }, authSchemePreference: ["httpBearerAuth"] },
    );
    expect(got.headers["authorization"]).toBe(expected.headers["authorization"]);
    expect(got.headers["x-amz-date"]).toBeUndefined();
  });

  test("a configured authorization header overrides any key, and nothing is signed", async () => {
    const { got } = await ours({ apiKey: PAIR, headers: { Authorization: "Bearer mine" } });
    expect(got.headers["authorization"]).toBe("Bearer mine");
    expect(got.headers["x-amz-date"]).toBeUndefined();
  });

  test("without a key, the request is signed with the credentials of the machine", async () => {
    const { got } = await ours(
      { apiKey: undefined },
      CLAUDE,
      {},
      { credentials: async () => ({ ...KEYS, accessKeyId: "AKIDAMBIENT" }) },
    );
    expect(got.headers["authorization"]).toContain("Credential=AKIDAMBIENT/");
  });

  test("the credentials of the machine are found as by Amazon's clients", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDOFENVIRONMENT");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-environment");
    vi.stubEnv("AWS_SESSION_TOKEN", "session-of-environment");
    const { got } = await ours({ apiKey: undefined });
    expect(got.headers["authorization"]).toContain("Credential=AKIDOFENVIRONMENT/");
    expect(got.headers["x-amz-security-token"]).toBe("session-of-environment");
  });

  test("configured headers are not signed, so that a proxy may change them", async () => {
    const { got } = await ours({ headers: { "x-team": "a" } });
    expect(got.headers["x-team"]).toBe("a");
    expect(got.headers["authorization"]).toContain(
      "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,",
    );
  });

  test.each(["a:", ":b", "a:b:", "a:b:c:d", "${A}:b:c:d"])(
    "the key %s is rejected before anything is sent",
    async (apiKey) => {
      const server = await LoopbackServer.start((response) => response.end());
      const request = createRequest(bedrock(CLAUDE, { baseUrl: server.url }), { apiKey });
      const error = await catchProviderError(new BedrockConverse({ http: pool }).stream(request, { signal }));
      await server.stop();
      expect([error.fault, error.message]).toEqual([
        "auth",
        expect.stringContaining("ACCESS:SECRET:SESSION"),
      ]);
      expect(server.received).toEqual([]);
    },
  );

  test("the secrets of a key are masked in an error, even separately", async () => {
    const apiKey = `${PAIR}:session-token-0123`;
    const server = await LoopbackServer.start((response) =>
      response
        .writeHead(403, {
          "content-type": "application/json",
          "x-amzn-errortype": "InvalidSignatureException",
        })
        .end(
          JSON.stringify({
            message: `The canonical string should have been x-amz-security-token:session-token-0123 ${KEYS.secretAccessKey}`,
          }),
        ),
    );
    const request = createRequest(bedrock(CLAUDE, { baseUrl: server.url }), { apiKey });
    const error = await catchProviderError(new BedrockConverse({ http: pool }).stream(request, { signal }));
    await server.stop();
    expect([error.fault, error.vendorType]).toEqual(["auth", "InvalidSignatureException"]);
    expect(error.message).not.toMatch(/session-token-0123|wJalr/);
  });
});

describe("a Bedrock model by its name [PROV-27.4]", () => {
  const url = "https://bedrock-runtime";
  test.each([
    [{}, `${url}.us-east-1.amazonaws.com`, undefined],
    [{ AWS_REGION: "eu-west-3" }, `${url}.eu-west-3.amazonaws.com`, undefined],
    [{ AWS_DEFAULT_REGION: "cn-north-1" }, `${url}.cn-north-1.amazonaws.com.cn`, undefined],
    [{ AWS_BEDROCK_CREDENTIALS: PAIR }, `${url}.us-east-1.amazonaws.com`, "${AWS_BEDROCK_CREDENTIALS}"],
    [
      { AWS_BEDROCK_CREDENTIALS: PAIR, AWS_BEARER_TOKEN_BEDROCK: "b" },
      `${url}.us-east-1.amazonaws.com`,
      "${AWS_BEARER_TOKEN_BEDROCK}",
    ],
    [{ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: "http://127.0.0.1:9" }, "http://127.0.0.1:9", undefined],
  ] as const)("with %j", (environment, baseUrl, apiKey) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const model = bedrock(CLAUDE);
    expect([model.api, model.provider, model.baseUrl, model.apiKey]).toEqual([
      "bedrock_converse_stream",
      "bedrock",
      baseUrl,
      apiKey,
    ]);
  });

  test.each([
    [CLAUDE, true],
    ["anthropic.claude-3-haiku-20240307-v1:0", false],
    ["us.amazon.nova-2-lite-v1:0", true],
    [NOVA, false],
    ["openai.gpt-oss-20b-1:0", true],
  ])("%s can think: %s", (id, reasoning) => expect(bedrock(id).reasoning).toBe(reasoning));
});

describe("the output mode of a model [SO-01.1-2]", () => {
  const closed = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
  const list = {
    type: "object",
    properties: { a: { type: "array", items: { type: "object" } } },
    additionalProperties: false,
  };
  test.each([
    [CLAUDE, closed, "native"],
    ["qwen.qwen3-32b-v1:0", closed, "native"],
    [CLAUDE, { ...closed, additionalProperties: true }, "final-tool"],
    [CLAUDE, list, "final-tool"],
    [CLAUDE, { ...closed, properties: { a: { type: "number", minimum: 1 } } }, "final-tool"],
    [CLAUDE, { ...closed, properties: { a: { $ref: "#" } } }, "final-tool"],
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", closed, "final-tool"],
    [NOVA, closed, "final-tool"],
  ])("%s and %j: %s", (id, schema, road) => {
    const provider = new BedrockConverse({ http: pool });
    expect(provider.selectOutputMode(bedrock(id), { type: "json-schema", schema })).toBe(road);
    expect(provider.selectOutputMode(bedrock(id), { type: "json-schema", schema, strict: false })).toBe(
      "final-tool",
    );
    expect(provider.selectOutputMode(bedrock(id), { type: "json" })).toBe("final-tool");
  });
});

test.each([
  ["https://bedrock-runtime.eu-west-3.amazonaws.com", "eu-west-3"],
  ["https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/base", "us-gov-west-1"],
  ["https://bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"],
  ["https://vpce-1.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com", "ap-southeast-2"],
  ["https://proxy.example/bedrock-runtime.eu-west-3.", "sa-east-1"],
])("the region of %s is %s", (url, region) => {
  expect(resolveRegion(url, { AWS_REGION: "", AWS_DEFAULT_REGION: "sa-east-1" })).toBe(region);
  if (url.includes("proxy")) expect(resolveRegion(url, {})).toBe("us-east-1");
});
