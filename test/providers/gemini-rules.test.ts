import { afterEach, describe, expect, test, vi } from "vitest";
import { parseModel } from "../../src/config/parse-model.ts";
import { google, ModelError, vertex } from "../../src/config/vendor-models.ts";
import { createCallIds } from "../../src/models/gemini/create-call-ids.ts";
import { GeminiAssembler } from "../../src/models/gemini/gemini-assembler.ts";
import { parsePath, putPartialValue } from "../../src/models/gemini/put-partial.ts";
import { buildGeminiRequest, selectOutputMode } from "../../src/models/gemini/request.ts";
import { buildGeminiUrl } from "../../src/models/google-generative-ai/google-generative-ai.ts";
import { buildVertexUrl } from "../../src/models/google-vertex/build-vertex-url.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { createHttpError, createStreamError } from "../../src/models/provider-error-from-response.ts";
import type { AssistantMessage, Content, Message } from "../../src/schema/message.ts";
import type { ModelConfig, ThinkingLevel } from "../../src/schema/model.ts";
import { createRequest, encodeSse, joinDeltas, plainVendor, readAnswer } from "./answer-reader.ts";

const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const said = (content: Content[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
  model: "gemini-3-flash-preview",
  provider: "google",
  usage,
  timestamp: 1,
  ...more,
});
const call = (id: string, more: object = {}): Content => ({
  type: "toolCall",
  id,
  name: "t",
  arguments: { a: id },
  ...more,
});
const result = (toolCallId: string, content: Content[], isError = false): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content,
  isError,
  timestamp: 1,
});
const text = (value: string): Content => ({ type: "text", text: value });
const PNG: Content = { type: "image", mimeType: "image/png", data: "iVBORw==" };
const INLINE = { inlineData: { mimeType: "image/png", data: "iVBORw==" } };
const NEW = "gemini-3-flash-preview";
const OLD = "gemini-2.5-flash";

const asked = (messages: Message[], id = NEW, more: Partial<ModelRequest> = {}) =>
  buildGeminiRequest(createRequest(google(id), { messages, ...more }));
const contents = (messages: Message[], id = NEW) => asked([user("hi"), ...messages], id).contents.slice(1);

describe("what is sent back", () => {
  test("its own parts unchanged, with their signatures, even empty ones, and none of our ids [PROV-20.4, TYP-02.3]", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "ZA==" };
    const own = said([
      { type: "thinking", thinking: "hm", signature: "YQ==" },
      { type: "thinking", thinking: "so" },
      { type: "vendor", kind: "executableCode", data: code },
      { type: "text", text: "both", signature: "Yg==" },
      call("google-fc-0", { signature: "Yw==" }),
      call("c7"),
      { type: "text", text: "", signature: "ZQ==" },
    ]);
    expect(contents([own, result("c7", [text("2")]), result("google-fc-0", [text("1")], true)])).toEqual([
      {
        role: "model",
        parts: [
          { text: "hm", thought: true, thoughtSignature: "YQ==" },
          { text: "so", thought: true },
          code,
          { text: "both", thoughtSignature: "Yg==" },
          { functionCall: { name: "t", args: { a: "google-fc-0" } }, thoughtSignature: "Yw==" },
          { functionCall: { id: "c7", name: "t", args: { a: "c7" } } },
          { text: "", thoughtSignature: "ZQ==" },
        ],
      },
      {
        role: "user",
        // In the order of the calls, whichever result arrived first.
        parts: [
          { functionResponse: { name: "t", response: { error: "1" } } },
          { functionResponse: { id: "c7", name: "t", response: { result: "2" } } },
        ],
      },
    ]);
  });

  const strange: Content[] = [
    { type: "thinking", thinking: "hm", signature: "YQ==" },
    { type: "vendor", kind: "web_search", data: { type: "web_search" } },
    { type: "text", text: "yes", signature: "Yg==" },
    call("toolu_1", { signature: "Yw==" }),
    call("toolu_2"),
  ];
  const results = [result("toolu_1", [text("1")]), result("toolu_2", [text("2")])];

  test("of another vendor only text and calls; for Gemini 3 these are marked as unsigned [XLAT-03.3, XLAT-03.4]", () => {
    const parts = (id: string) =>
      contents([said(strange, { provider: "anthropic" }), ...results], id)[0]?.parts;
    const calls = ["toolu_1", "toolu_2"].map((a) => ({ functionCall: { name: "t", args: { a } } }));
    expect(parts(OLD)).toEqual([{ text: "yes" }, ...calls]);
    expect(parts(NEW)).toEqual([
      { text: "yes" },
      { ...calls[0], thoughtSignature: "skip_thought_signature_validator" },
      calls[1],
    ]);
  });

  test("of the same provider under another protocol, the same as of another vendor", () => {
    const other = said([
      { type: "thinking", thinking: "hm", signature: '[{"type":"reasoning.text"}]' },
      call("c1", { signature: "{}" }),
    ]);
    expect(contents([other, result("c1", [text("1")])])[0]?.parts).toEqual([
      {
        functionCall: { id: "c1", name: "t", args: { a: "c1" } },
        thoughtSignature: "skip_thought_signature_validator",
      },
    ]);
  });

  test("images of a result are within it from Gemini 3 on, and after it for older models", () => {
    const seen = [said([call("c1", { signature: "Yw==" })]), result("c1", [PNG])];
    const response = { id: "c1", name: "t", response: { result: "(see the attached image)" } };
    expect(contents(seen)[1]).toEqual({
      role: "user",
      parts: [{ functionResponse: { ...response, parts: [INLINE] } }],
    });
    expect(contents(seen, OLD).slice(1)).toEqual([
      { role: "user", parts: [{ functionResponse: response }] },
      { role: "user", parts: [{ text: "Attached by t:" }, INLINE] },
    ]);
  });

  test("call ids that we generate never collide in a conversation [GAP-08.1]", () => {
    expect(createCallIds("google-fc", [])(0)).toBe("google-fc-0");
    const before = [said([call("google-fc-0"), call("google-fc-1")]), said([call("vertex-fc-9")])];
    const next = createCallIds("google-fc", before);
    expect([next(0), next(1)]).toEqual(["google-fc-2", "google-fc-3"]);
    // For histories from elsewhere: each result goes to the call before it.
    const twice = contents([
      said([call("google-fc-0", { signature: "Yw==" })]),
      result("google-fc-0", [text("first")]),
      said([call("google-fc-0", { signature: "Yw==" })]),
      result("google-fc-0", [text("second")]),
    ]);
    const response = (said: string) => ({ functionResponse: { name: "t", response: { result: said } } });
    expect([twice[1]?.parts, twice[3]?.parts]).toEqual([[response("first")], [response("second")]]);
  });
});

describe("thinking", () => {
  const config = (id: string, thinking: ThinkingLevel, more: Partial<ModelConfig> = {}, maxTokens?: number) =>
    buildGeminiRequest(createRequest({ ...google(id), ...more }, { thinking, maxTokens })).generationConfig;
  const LEVELS = ["off", "minimal", "low", "medium", "high"] as const;

  test.each([
    [NEW, ["MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH"]],
    ["gemini-flash-latest", ["MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH"]],
    ["gemini-3-pro-preview", ["LOW", "LOW", "LOW", "HIGH", "HIGH"]],
    ["models/gemini-3.1-pro-preview", ["LOW", "LOW", "LOW", "MEDIUM", "HIGH"]],
    ["gemini-12-ultra", ["MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH"]],
  ])("%s by level, the nearest that it supports", (id, levels) => {
    expect(LEVELS.map((level) => config(id, level).thinkingConfig)).toEqual(
      levels.map((thinkingLevel, at) => ({ ...(at > 0 && { includeThoughts: true }), thinkingLevel })),
    );
  });

  test.each([
    [OLD, [0, 128, 512, 2048, 8192]],
    ["gemini-2.5-flash-lite", [0, 512, 512, 2048, 8192]],
    ["gemini-2.5-pro", [128, 128, 512, 2048, 8192]],
  ])("%s by budget, clamped to what it accepts", (id, budgets) => {
    expect(LEVELS.map((level) => config(id, level).thinkingConfig)).toEqual(
      budgets.map((thinkingBudget, at) => ({ ...(at > 0 && { includeThoughts: true }), thinkingBudget })),
    );
  });

  test("is not sent to models that cannot be configured, unless the model's configuration says otherwise", () => {
    for (const id of ["gemini-2.0-flash", "gemma-3-27b-it", "gemini-3-pro-image-preview", "tunedModels/mine"])
      expect(config(id, "high")).not.toHaveProperty("thinkingConfig");
    expect(config("tunedModels/mine", "low", { thinkingStyle: "level" }).thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingLevel: "LOW",
    });
    expect(config(OLD, "low", { thinkingStyle: "adaptive" }).thinkingConfig).toMatchObject({
      thinkingBudget: -1,
    });
    expect(config(NEW, "low", { thinkingStyle: "budget" }).thinkingConfig).toMatchObject({
      thinkingBudget: 512,
    });
  });

  test("leaves room for the answer", () => {
    expect(config(OLD, "high", {}, 1000)).toMatchObject({ maxOutputTokens: 9216 });
    expect(config(OLD, "high", { maxTokens: 4096 })).toMatchObject({
      maxOutputTokens: 4096,
      thinkingConfig: { thinkingBudget: 3072 },
    });
    expect(config("gemini-2.5-flash-lite", "high", { maxTokens: 1100 })).toEqual({
      maxOutputTokens: 1100,
      thinkingConfig: { thinkingBudget: 0 },
    });
  });
});

test("the output mode: native, and a final tool where formats and tools exclude each other [SO-01.1-2]", () => {
  expect([google(NEW), google(OLD), google("gemma-3-27b-it")].map(selectOutputMode)).toEqual([
    "native",
    "final-tool",
    "final-tool",
  ]);
});

describe("answers", () => {
  const make = (context: ConstructorParameters<typeof GeminiAssembler>[0]) =>
    new GeminiAssembler(context, (n) => `vertex-fc-${n}`);
  const answer = (...events: unknown[]) => readAnswer(make, [encodeSse(events, false)]);
  const failure = (...events: unknown[]): ProviderError => {
    try {
      answer(...events);
    } catch (error) {
      if (error instanceof ProviderError) return error;
    }
    throw new Error("expected a ProviderError");
  };
  const ended = (finishReason: string, more: object = {}) => ({ candidates: [{ finishReason, ...more }] });

  const FILTERS = [
    "SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII",
    "NO_IMAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER",
  ].flatMap((names) => names.split(" "));

  test.each<[string, string]>([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["CONTINUATION", "length"],
    ["SOMETHING_NEW", "stop"],
    ...FILTERS.map((name): [string, string] => [name, "guardRail"]),
  ])("%s is %s [PROV-07.1-2, PROV-07.6]", (reason, stop) => {
    const { message } = answer(ended(reason, { finishMessage: "since so" }));
    expect(message.stopReason).toBe(stop);
    expect(message.errorMessage).toBe(
      stop === "guardRail" ? `vendor stopped its answer (${reason}): since so` : undefined,
    );
  });

  test("a call that the vendor could not read is retried, too many calls are not", () => {
    const faults = ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"].map((reason) =>
      failure(ended(reason, { finishMessage: "print(x" })),
    );
    expect(faults.map(({ fault }) => fault)).toEqual(["network", "network", "api"]);
    expect(faults[0]?.message).toBe("vendor: the answer ended with MALFORMED_FUNCTION_CALL: print(x");
  });

  test("a blocked prompt is a refusal with its reason [PROV-07.6]", () => {
    const { message } = answer({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: "no" },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    });
    expect(message).toMatchObject({
      stopReason: "guardRail",
      errorMessage: "vendor blocked the prompt (PROHIBITED_CONTENT): no",
      content: [],
      usage: { input: 9, totalTokens: 9 },
    });
  });

  test("an answer without a stop reason is broken, whatever it contains", () => {
    const part = { content: { parts: [{ text: "a" }] } };
    for (const reason of [undefined, "FINISH_REASON_UNSPECIFIED"]) {
      expect(failure({ candidates: [{ ...part, finishReason: reason }] })).toMatchObject({
        fault: "network",
      });
    }
    expect(failure({ promptFeedback: { safetyRatings: [] } })).toMatchObject({ fault: "network" });
  });

  test("Vertex may send the arguments of a call value by value [PROV-22.3]", () => {
    const piece = (functionCall: object, more: object = {}) => ({
      candidates: [{ content: { parts: [{ functionCall, ...more }] } }],
    });
    const at = (jsonPath: string, value: object, willContinue = false) =>
      piece({ partialArgs: [{ jsonPath, ...value, willContinue }], willContinue: true });
    const { message, deltas } = answer(
      piece({ name: "read", willContinue: true }, { thoughtSignature: "Yw==" }),
      at("$.path", { stringValue: "a/" }, true),
      at("$.path", { stringValue: "b.txt" }),
      at("$.lines[0].from", { numberValue: 1 }),
      at("$.lines[1]['to the']", { boolValue: true }),
      at("$.none", { nullValue: "NULL_VALUE" }),
      piece({}),
      piece({ name: "list", args: { path: "." } }),
      ended("STOP"),
    );
    const args = { path: "a/b.txt", lines: [{ from: 1 }, { "to the": true }], none: null };
    expect(message.content).toEqual([
      { type: "toolCall", id: "vertex-fc-0", name: "read", arguments: args, signature: "Yw==" },
      { type: "toolCall", id: "vertex-fc-1", name: "list", arguments: { path: "." } },
    ]);
    expect(joinDeltas(deltas).map((block) => JSON.parse(block.slice("toolCall:".length)))).toEqual([
      args,
      { path: "." },
    ]);
  });

  test("a path into arguments sets only what it names", () => {
    expect(parsePath("$.a['b c'][\"d\"][2].e")).toEqual(["a", "b c", "d", 2, "e"]);
    for (const path of [
      "",
      "$",
      "a",
      "$.__proto__.x",
      "$[99999999]",
      "$..a",
      "$.a[*]",
      `$${".a".repeat(40)}`,
    ])
      expect(parsePath(path), path).toBeUndefined();
    const root: Record<string, unknown> = { a: 1 };
    putPartialValue(root, { jsonPath: "$.toString", stringValue: "x" });
    putPartialValue(root, { jsonPath: "$.a.b", stringValue: "y" });
    putPartialValue(root, { jsonPath: "$.__proto__.polluted", stringValue: "z" });
    expect(root).toEqual({ toString: "x", a: { b: "y" } });
    expect({}).not.toHaveProperty("polluted");
  });

  test("counters are read from unusual fields, with thinking beside the answer or within it [CACHE-04.1]", () => {
    const usageOf = (...reports: object[]) =>
      answer(...reports.map((usageMetadata) => ({ usageMetadata })), ended("STOP")).message.usage;
    const full = { promptTokenCount: 100, toolUsePromptTokenCount: 20, candidatesTokenCount: 10 };
    expect(
      usageOf({ ...full, cachedContentTokenCount: 60, thoughtsTokenCount: 5 }, { totalTokenCount: 135 }),
    ).toEqual({
      input: 60,
      output: 15,
      reasoning: 5,
      cacheRead: 60,
      cacheWrite: 0,
      totalTokens: 135,
    });
    expect(usageOf({ ...full, thoughtsTokenCount: 5, totalTokenCount: 130 })).toMatchObject({
      output: 10,
      reasoning: 5,
    });
    expect(usageOf({ trafficType: "ON_DEMAND" }, full)).toMatchObject({ input: 120, totalTokens: 130 });
    expect(usageOf()).toEqual(usage);
  });

  test.each([
    [{ serviceTier: "flex" }, "flex"],
    [{ serviceTier: "standard" }, undefined],
    [{ trafficType: "ON_DEMAND" }, undefined],
    [{ trafficType: "ON_DEMAND_PRIORITY" }, "priority"],
    [{ trafficType: "PROVISIONED_THROUGHPUT" }, "provisioned_throughput"],
  ])("%o was served at %s", (usageMetadata, tier) => {
    expect(answer({ usageMetadata }, ended("STOP")).message.serviceTier).toBe(tier);
  });
});

describe("errors in Google's form", () => {
  const google = (code: number, status: string, details: object[] = []) => ({
    error: { code, status, message: "so it is", details },
  });
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" };
  const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };
  const http = (status: number, body: unknown, headers = {}) =>
    createHttpError(plainVendor, {
      status,
      headers,
      body: JSON.stringify(body),
      isBodyIncomplete: false,
      now: 0,
    });

  test.each([
    [400, "INVALID_ARGUMENT", [], "api"],
    [400, "INVALID_ARGUMENT", [reason], "auth"],
    [403, "PERMISSION_DENIED", [], "auth"],
    [429, "RESOURCE_EXHAUSTED", [], "rate-limited"],
    [500, "INTERNAL", [], "api"],
    [503, "UNAVAILABLE", [], "rate-limited"],
  ] as const)(
    "%d %s is %4$s, as an object or a list, before the stream or in it [OVF-01.2-4]",
    (code, status, details, fault) => {
      const body = google(code, status, [...details]);
      const errors = [
        http(code, body),
        http(code, [body]),
        createStreamError(plainVendor, body),
        createStreamError(plainVendor, [body]),
      ];
      for (const error of errors) expect(error).toMatchObject({ fault, status: code, vendorType: status });
      expect(errors[1]?.message).toBe(`vendor answered ${code}: so it is (${status})`);
    },
  );

  test("its requested delay is used exactly, a header's with priority [RTY-04]", () => {
    const body = google(429, "RESOURCE_EXHAUSTED", [{ "@type": "x" }, retry]);
    expect(http(429, body).retryAfterMs).toBe(34_400);
    expect(http(429, body, { "retry-after": "2" }).retryAfterMs).toBe(2000);
    expect(createStreamError(plainVendor, body).retryAfterMs).toBe(34_400);
    expect(
      http(429, google(429, "RESOURCE_EXHAUSTED", [{ ...retry, retryDelay: "soon" }])).retryAfterMs,
    ).toBeUndefined();
  });

  test("input that does not fit is an overflow [OVF-03.1]", () => {
    const message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    expect(http(400, { error: { code: 400, message, status: "INVALID_ARGUMENT" } }).fault).toBe("overflow");
  });
});

const GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse";
test.each([
  ["https://generativelanguage.googleapis.com", "m", GEMINI],
  ["https://generativelanguage.googleapis.com/v1beta/", "models/m", GEMINI],
  ["https://generativelanguage.googleapis.com/v1beta/models", "m", GEMINI],
  [GEMINI, "m", GEMINI],
  ["http://h/gemini", "tunedModels/m", "http://h/gemini/v1beta/tunedModels/m:streamGenerateContent?alt=sse"],
  ["http://h/v1?x=1", "m", "http://h/v1/models/m:streamGenerateContent?x=1&alt=sse"],
  ["http://h", "a b?c", "http://h/v1beta/models/a%20b%3Fc:streamGenerateContent?alt=sse"],
])("Gemini at %s, %s [PROV-20.1]", (base, id, url) => expect(buildGeminiUrl(base, id)).toBe(url));

const BASE = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1";
const METHOD = ":streamGenerateContent?alt=sse";
test.each([
  [BASE, "m", `${BASE}/publishers/google/models/m${METHOD}`],
  [`${BASE}/publishers/google/models/`, "m", `${BASE}/publishers/google/models/m${METHOD}`],
  [
    BASE.replace("/v1/", "/v1beta1/"),
    "m@001",
    `${BASE.replace("/v1/", "/v1beta1/")}/publishers/google/models/m@001${METHOD}`,
  ],
  [BASE, "meta/llama", `${BASE}/publishers/meta/models/llama${METHOD}`],
  [BASE, "endpoints/12", `${BASE}/endpoints/12${METHOD}`],
  [
    BASE,
    "projects/q/locations/l/endpoints/1",
    `https://us-central1-aiplatform.googleapis.com/v1/projects/q/locations/l/endpoints/1${METHOD}`,
  ],
  [
    "https://aiplatform.googleapis.com",
    "m",
    `https://aiplatform.googleapis.com/v1/publishers/google/models/m${METHOD}`,
  ],
  [
    "https://aiplatform.googleapis.com/projects/p/locations/global",
    "m",
    `https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m${METHOD}`,
  ],
])("Vertex at %s, %s [PROV-22.1] [GAP-09.1]", (base, id, url) => expect(buildVertexUrl(base, id)).toBe(url));

test("a model's name cannot change the path of the address", () => {
  for (const id of ["../../x", "models/..", "", "a//b"])
    expect(() => buildGeminiUrl("http://h", id)).toThrow(ProviderError);
  expect(() => buildVertexUrl(BASE, "publishers/google/models/../../x")).toThrow(ProviderError);
});

describe("models by name", () => {
  afterEach(() => vi.unstubAllEnvs());
  const without = (...names: string[]) => {
    for (const name of names) vi.stubEnv(name, undefined);
  };

  test("google/ID: the key, the address, a window of a million tokens [PROV-03.3] [PROV-26.1] [PROV-27.2]", () => {
    without("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL");
    expect(parseModel("google/gemini-3-flash")).toMatchObject({
      id: "gemini-3-flash",
      api: "google_generative_ai",
      provider: "google",
      baseUrl: "https://generativelanguage.googleapis.com",
      apiKey: `\${GEMINI_API_KEY}`,
      contextWindow: 1_000_000,
      maxTokens: 65_536,
    });
    expect(google("gemini-2.0-flash").maxTokens).toBe(8192);
    vi.stubEnv("GOOGLE_API_KEY", "k");
    expect(google("m").apiKey).toBe(`\${GOOGLE_API_KEY}`);
    vi.stubEnv("GEMINI_API_KEY", "k");
    expect(google("m").apiKey).toBe(`\${GEMINI_API_KEY}`);
  });

  test("vertex/ID: project and location from the environment, no key [PROV-22.1] [GAP-09.1]", () => {
    without("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_VERTEX_BASE_URL");
    expect(() => vertex("m")).toThrow(ModelError);
    expect(vertex("m", { apiKey: `\${KEY}` }).baseUrl).toBe("https://aiplatform.googleapis.com/v1");
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "p");
    const at = (location: string) => {
      vi.stubEnv("GOOGLE_CLOUD_LOCATION", location);
      return parseModel("vertex/m").baseUrl;
    };
    expect(at("")).toBe("https://aiplatform.googleapis.com/v1/projects/p/locations/global");
    expect(at("eu")).toBe("https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu");
    expect(at("us-central1")).toBe(BASE);
    expect(vertex("m").apiKey).toBeUndefined();
    vi.stubEnv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:9/");
    expect(vertex("m").baseUrl).toBe("http://127.0.0.1:9/v1/projects/p/locations/us-central1");
  });
});
