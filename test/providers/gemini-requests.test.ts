import {
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  ThinkingLevel,
} from "@google/genai";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { google, vertex } from "../../src/config/vendor-models.ts";
import { GoogleGenerativeAi } from "../../src/models/google-generative-ai/google-generative-ai.ts";
import { GoogleVertex } from "../../src/models/google-vertex/google-vertex.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import type { Message, Content as OurContent } from "../../src/schema/message.ts";
import type { ToolDefinition } from "../../src/schema/tool.ts";
import { createHttp, createRequest, encodeSse } from "./answer-reader.ts";
import { createSdk, LOCATION, type Vendor } from "./gemini-sdk.ts";
import { LoopbackServer, type ReceivedRequest } from "./loopback-server.ts";

// The same input, given to our adapter and to the vendor's SDK, must give the same request.

const pool = createHttp();
afterAll(async () => await pool.close());
const servers: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const ANSWER = encodeSse(
  [{ candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] }],
  false,
);

async function serve(): Promise<LoopbackServer> {
  const server = await LoopbackServer.start((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER),
  );
  servers.push(server);
  return server;
}

type Said = {
  readonly path: string;
  readonly headers: Record<string, string | undefined>;
  readonly body: unknown;
};

const HEADERS = ["content-type", "x-goog-api-key", "authorization"];

function saidIn({ url, headers, body }: ReceivedRequest): Said {
  const kept = Object.fromEntries(HEADERS.map((name) => [name, headers[name]?.toString()]));
  return { path: url, headers: kept, body: JSON.parse(body) };
}

const KEY = "k-0123456789";

async function ours(vendor: Vendor, id: string, more: Partial<ModelRequest>): Promise<Said> {
  const server = await serve();
  const { project, location } = LOCATION;
  const signal = new AbortController().signal;
  if (vendor === "google") {
    const request = createRequest(google(id, { baseUrl: server.url }), { apiKey: KEY, ...more });
    await new GoogleGenerativeAi({ http: pool }).stream(request, { signal });
  } else {
    const baseUrl = `${server.url}/v1beta1/projects/${project}/locations/${location}`;
    await new GoogleVertex({ http: pool }).stream(
      createRequest(vertex(id, { baseUrl }), { apiKey: "t", ...more }),
      {
        signal,
      },
    );
  }
  return saidIn(server.received[0]!);
}

async function theirs(
  vendor: Vendor,
  model: string,
  contents: Content[],
  config: GenerateContentConfig,
): Promise<Said> {
  const server = await serve();
  const key = vendor === "google" ? { apiKey: KEY } : {};
  const { models } = createSdk(vendor, { ...key, httpOptions: { baseUrl: server.url } });
  for await (const _ of await models.generateContentStream({ model, contents, config }));
  return saidIn(server.received[0]!);
}

const user = (...content: OurContent[]): Message => ({ role: "user", content, timestamp: 1 });
const text = (value: string): OurContent => ({ type: "text", text: value });
const image: OurContent = { type: "image", mimeType: "image/jpeg", data: "/9j/4AA=" };
const inline = { inlineData: { mimeType: "image/jpeg", data: "/9j/4AA=" } };
const said = (provider: string, ...content: OurContent[]): Message => ({
  role: "assistant",
  content,
  stopReason: "stop",
  model: "m",
  provider,
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  timestamp: 1,
});
const result = (toolCallId: string, isError: boolean, ...content: OurContent[]): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "read_file",
  content,
  isError,
  timestamp: 1,
});
const call = (id: string, args: object, signature?: string): OurContent => ({
  type: "toolCall",
  id,
  name: "read_file",
  arguments: args,
  ...(signature && { signature }),
});
const TOOL: ToolDefinition = {
  name: "read_file",
  description: "Reads a file. Größe ≤ 1 MB 🌍",
  parameters: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { path: { type: ["string", "null"] }, lines: { type: "array", prefixItems: [{ const: 1 }] } },
    required: ["path"],
    additionalProperties: false,
  },
};
const DECLARED: GenerateContentConfig = {
  tools: [
    {
      functionDeclarations: [
        { name: TOOL.name, description: TOOL.description, parametersJsonSchema: TOOL.parameters },
      ],
    },
  ],
};
const SCHEMA = { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] };
const THINKS = { thinkingLevel: ThinkingLevel.MINIMAL };
const LIMIT = { maxOutputTokens: 65_536 };

type Case = {
  readonly model?: string;
  readonly ours: (own: string) => Partial<ModelRequest>;
  readonly contents: Content[];
  readonly config?: GenerateContentConfig;
};
const HI: Content = { role: "user", parts: [{ text: "hi" }] };

const CASES: Record<string, Case> = {
  "a word": { ours: () => ({ messages: [user(text("hi"))] }), contents: [HI] },
  "a system prompt and a temperature": {
    ours: () => ({ systemPrompt: "Be brief.\n", temperature: 0.2, maxTokens: 99 }),
    contents: [HI],
    config: { systemInstruction: "Be brief.\n", temperature: 0.2, maxOutputTokens: 99 },
  },
  "a picture between two words": {
    ours: () => ({ messages: [user(text("see"), image, text("this"))] }),
    contents: [{ role: "user", parts: [{ text: "see" }, inline, { text: "this" }] }],
  },
  "a tool, and that it must be called": {
    ours: () => ({ tools: [TOOL], forcedTool: "read_file" }),
    contents: [HI],
    config: {
      ...DECLARED,
      toolConfig: {
        functionCallingConfig: {
          mode: FunctionCallingConfigMode.ANY,
          allowedFunctionNames: ["read_file"],
        },
      },
    },
  },
  "an answer of a schema, with tools": {
    ours: () => ({ tools: [TOOL], output: { type: "json-schema", schema: SCHEMA } }),
    contents: [HI],
    config: { ...DECLARED, responseMimeType: "application/json", responseJsonSchema: SCHEMA },
  },
  "an answer in JSON": {
    ours: () => ({ output: { type: "json" } }),
    contents: [HI],
    config: { responseMimeType: "application/json" },
  },
  "thinking by level": {
    ours: () => ({ thinking: "high" }),
    contents: [HI],
    config: { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } },
  },
  "thinking by budget": {
    model: "gemini-2.5-pro",
    ours: () => ({ thinking: "medium" }),
    contents: [HI],
    config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } },
  },
  "thinking switched off": {
    model: "gemini-2.5-flash",
    ours: () => ({ thinking: "off" }),
    contents: [HI],
    config: { thinkingConfig: { thinkingBudget: 0 } },
  },
  "two calls at once, one of them failed, with a picture": {
    ours: (own) => ({
      tools: [TOOL],
      messages: [
        user(text("hi")),
        said(
          own,
          { type: "thinking", thinking: "hm", signature: "YQ==" },
          text("I look."),
          call("c1", { path: "a" }, "Yg=="),
          call("c2", {}),
        ),
        result("c1", false, text("one"), text("two"), image),
        result("c2", true, text("no path")),
      ],
    }),
    contents: [
      HI,
      {
        role: "model",
        parts: [
          { text: "hm", thought: true, thoughtSignature: "YQ==" },
          { text: "I look." },
          { functionCall: { id: "c1", name: "read_file", args: { path: "a" } }, thoughtSignature: "Yg==" },
          { functionCall: { id: "c2", name: "read_file", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "c1",
              name: "read_file",
              response: { result: "one\ntwo" },
              parts: [inline],
            },
          },
          { functionResponse: { id: "c2", name: "read_file", response: { error: "no path" } } },
        ],
      },
    ],
    config: DECLARED,
  },
  "a history of another vendor": {
    ours: () => ({
      messages: [
        user(text("hi")),
        said("anthropic", { type: "thinking", thinking: "hm", signature: "YQ==" }, call("toolu_1", {})),
        result("toolu_1", false),
        said("anthropic", text("done")),
        user(text("thanks")),
      ],
    }),
    contents: [
      HI,
      {
        role: "model",
        parts: [
          {
            functionCall: { name: "read_file", args: {} },
            thoughtSignature: "skip_thought_signature_validator",
          },
        ],
      },
      { role: "user", parts: [{ functionResponse: { name: "read_file", response: { result: "" } } }] },
      { role: "model", parts: [{ text: "done" }] },
      { role: "user", parts: [{ text: "thanks" }] },
    ],
  },
};

describe.each(["google", "vertex"] as const)("requests to %s", (vendor) => {
  test.each(Object.entries(CASES))(
    "%s: the same as the SDK's [PROV-20.1-4] [PROV-22.1, PROV-22.4]",
    async (_name, one) => {
      const model = one.model ?? "gemini-3-flash-preview";
      const thinkingConfig = one.model === undefined ? { thinkingConfig: THINKS } : {};
      const config = { ...LIMIT, ...thinkingConfig, ...one.config };
      const expected = await theirs(vendor, model, one.contents, config);
      expect(await ours(vendor, model, one.ours(vendor))).toEqual(expected);
    },
  );
});

test("the tier is sent in the body to Gemini, in a header to Vertex", async () => {
  const server = await serve();
  const signal = new AbortController().signal;
  const ask = async (serviceTier: string) => {
    const gemini = google("gemini-3-flash", { baseUrl: server.url, serviceTier });
    const cloud = vertex("m", { baseUrl: `${server.url}/v1/projects/p/locations/l`, serviceTier });
    await new GoogleGenerativeAi({ http: pool }).stream(createRequest(gemini), { signal });
    await new GoogleVertex({ http: pool }).stream(createRequest(cloud), { signal });
    return server.received
      .splice(0)
      .map(({ headers, body }) => [
        JSON.parse(body).serviceTier,
        headers["x-vertex-ai-llm-shared-request-type"],
        headers["x-vertex-ai-llm-request-type"],
      ]);
  };
  expect(await ask("flex")).toEqual([
    ["flex", undefined, undefined],
    [undefined, "flex", undefined],
  ]);
  expect(await ask("dedicated")).toEqual([
    ["dedicated", undefined, undefined],
    [undefined, undefined, "dedicated"],
  ]);
  expect((await ask("shared"))[1]).toEqual([undefined, undefined, "shared"]);
  const { body } = await theirs("google", "m", [HI], { serviceTier: "flex" as never });
  expect(body).toMatchObject({ serviceTier: "flex" });
});

test("calls without an id receive one that names the service that sent them [PROV-21.2, PROV-22.3]", async () => {
  const call = { functionCall: { name: "t", args: {} } };
  const bytes = encodeSse(
    [{ candidates: [{ content: { parts: [call, call] }, finishReason: "STOP" }] }],
    false,
  );
  const server = await LoopbackServer.start((response) =>
    response.writeHead(200, { "content-type": "text/event-stream" }).end(bytes),
  );
  servers.push(server);
  const options = { signal: new AbortController().signal };
  const cloud = vertex("m", { baseUrl: `${server.url}/v1/projects/p/locations/l` });
  const answers = [
    await new GoogleGenerativeAi({ http: pool }).stream(
      createRequest(google("m", { baseUrl: server.url })),
      options,
    ),
    await new GoogleVertex({ http: pool }).stream(createRequest(cloud), options),
  ];
  const ids = answers.map(({ content }) => content.map((part) => part.type === "toolCall" && part.id));
  expect(ids).toEqual([
    ["google-fc-0", "google-fc-1"],
    ["vertex-fc-0", "vertex-fc-1"],
  ]);
});
