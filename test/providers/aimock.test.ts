import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { ModelConfig, type Protocol } from "../../src/schema/model.ts";
import { catchProviderError, createHttp, createRequest, joinDeltas } from "./answer-reader.ts";

// A server that is not ours: it behaves as its makers understood the protocols. It is no reference for the protocols
// (the vendors' SDKs are): it must be understood, and its inventions must do no harm.

const pool = createHttp();
const providers = ProviderRegistry.createDefault({ http: pool });
let mock: LLMock;
beforeAll(async () => {
  mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 3 });
  mock.onMessage("say hello", { content: "Hello, wörld 👋 from far away." });
  mock.onMessage("use tools", {
    toolCalls: [
      { name: "search", arguments: '{"q":"a \\"b\\" ü","n":[1,2]}' },
      { name: "read", arguments: "{}" },
    ],
  });
  mock.onMessage("too many", {
    error: { message: "Slow down", type: "rate_limit_error" },
    status: 429,
    retryAfter: 7,
  });
  mock.onMessage("break", { error: { message: "Oops", type: "server_error" }, status: 500 });
  mock.onMessage("garbage", { content: "never" }, { chaos: { malformedRate: 1 } });
  mock.onMessage("hang up", { content: "never" }, { chaos: { disconnectRate: 1 } });
  await mock.start();
});
afterAll(async () => {
  await mock.stop();
  await pool.close();
});

const PEERS: readonly [Protocol, string, string][] = [
  ["anthropic_messages", "claude-opus-4-5", ""],
  ["openai_completions", "gpt-4.1", "/v1"],
  ["openai_responses", "gpt-4.1", "/v1"],
  ["azure_openai_responses", "gpt-4.1", "/openai/v1"],
  ["google_generative_ai", "gemini-2.5-flash", ""],
  ["google_vertex", "gemini-2.5-flash", "/v1/projects/p/locations/us-central1"],
  ["bedrock_converse_stream", "anthropic.claude-3-haiku-20240307-v1:0", ""],
];

describe.each(PEERS)("%s", (api, id, path) => {
  const ask = (text: string) => {
    const model = ModelConfig.parse({
      id,
      api,
      provider: api,
      baseUrl: `${mock.url}${path}`,
      contextWindow: 9999,
    });
    const deltas: Parameters<typeof joinDeltas>[0][number][] = [];
    const schema = { type: "object", properties: {} };
    const tools = ["search", "read"].map((name) => ({ name, description: name, parameters: schema }));
    const request = createRequest(model, {
      messages: [{ role: "user", content: [{ type: "text", text }], timestamp: 1 }],
      tools: tools as never,
      ...(api === "google_vertex" && { apiKey: undefined, headers: { authorization: "Bearer ${T}" } }),
    });
    const answer = providers.get(api)!.stream(request, {
      signal: AbortSignal.timeout(10_000),
      onDelta: (delta) => void deltas.push(delta),
    });
    return { answer, deltas };
  };

  test("a text in chunks is read [PROV-01.1]", async () => {
    const { answer, deltas } = ask("say hello");
    const { content, stopReason } = await answer;
    expect(content).toHaveLength(1);
    expect(content[0]).toMatchObject({ type: "text", text: "Hello, wörld 👋 from far away." });
    expect(stopReason).toBe("stop");
    expect(deltas.length).toBeGreaterThan(3);
    expect(joinDeltas(deltas)).toEqual(["text:Hello, wörld 👋 from far away."]);
  });

  test("two tool calls are read [PROV-07.3]", async () => {
    const { content, stopReason } = await ask("use tools").answer;
    expect(content.filter(({ type }) => type === "toolCall")).toMatchObject([
      { name: "search", arguments: { q: 'a "b" ü', n: [1, 2] } },
      { name: "read", arguments: {} },
    ]);
    expect(stopReason).toBe("toolUse");
  });

  test("faults are classified: too many requests with the delay, a broken server, garbage, a lost connection [OVF-01.2, OVF-01.4]", async () => {
    const many = await catchProviderError(ask("too many").answer);
    expect(many).toMatchObject({ fault: "rate-limited", status: 429, retryAfterMs: 7000 });
    expect(await catchProviderError(ask("break").answer)).toMatchObject({ fault: "api", status: 500 });
    expect(["api", "network"]).toContain((await catchProviderError(ask("garbage").answer)).fault);
    expect((await catchProviderError(ask("hang up").answer)).fault).toBe("network");
  });
});
