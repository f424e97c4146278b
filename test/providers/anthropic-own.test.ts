import { afterEach, describe, expect, test } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { computeCost } from "../../src/core/budget/usage.ts";
import { AnthropicAssembler } from "../../src/models/anthropic-messages/anthropic-assembler.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import type { ModelDelta, ModelRequest } from "../../src/models/provider.ts";
import type { AssistantMessage, Content } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";
import { catchProviderError, createHttp, createRequest, encodeSse, readAnswer } from "./answer-reader.ts";
import { captureRequest } from "./captured-request.ts";
import { LoopbackServer } from "./loopback-server.ts";

// What only Anthropic has: its own tools, pauses, citations, refusals by category, tiers.

const head = (usage: object = { input_tokens: 10, output_tokens: 1 }) => ({
  type: "message_start",
  message: { id: "msg_1", usage },
});
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (index: number, said: string) =>
  block(index, { type: "text", text: "" }, { type: "text_delta", text: said });
const tail = (stop_reason: string, usage: object = { output_tokens: 5 }, more: object = {}) => [
  { type: "message_delta", delta: { stop_reason, ...more }, usage },
  { type: "message_stop" },
];
const answer = (...events: object[]) =>
  readAnswer((context) => new AnthropicAssembler(context), [encodeSse(events)]).message;
const own = (content: Content[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
  model: "m",
  provider: "anthropic",
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  timestamp: 1,
  ...more,
});
const backOf = (message: AssistantMessage, more: Partial<ModelRequest> = {}) =>
  buildAnthropicRequest(
    createRequest(anthropic("claude-opus-5"), {
      messages: [
        { role: "user", content: [{ type: "text", text: "a" }], timestamp: 1 },
        { ...message, provider: more.model?.provider ?? message.provider },
        { role: "user", content: [{ type: "text", text: "b" }], timestamp: 1 },
      ],
      ...more,
    }),
  ).messages[1]?.content;

const SEARCH = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const FOUND = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [
    { type: "web_search_result", url: "https://h/", title: "T", encrypted_content: "Eq==", page_age: null },
  ],
};

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

describe("blocks of the vendor's own tools", () => {
  const asked = { type: "input_json_delta", partial_json: '{"query": "x"}' };

  test("are stored whole at their position, and sent back unchanged, to Anthropic alone", () => {
    const message = answer(
      head(),
      ...text(0, "I look."),
      ...block(1, SEARCH, { ...asked, partial_json: '{"que' }, { ...asked, partial_json: 'ry": "x"}' }),
      ...block(2, FOUND),
      ...text(3, "Found."),
      ...tail("end_turn"),
    );
    const sent = { ...SEARCH, input: { query: "x" } };
    expect(message.content).toEqual([
      { type: "text", text: "I look." },
      { type: "vendor", kind: "server_tool_use", data: sent },
      { type: "vendor", kind: "web_search_tool_result", data: FOUND },
      { type: "text", text: "Found." },
    ]);
    const own = { ...message, provider: "anthropic" };
    expect(backOf(own)).toEqual([
      { type: "text", text: "I look." },
      sent,
      FOUND,
      { type: "text", text: "Found." },
    ]);
    expect(backOf({ ...message, provider: "elsewhere" })?.map(({ type }) => type)).toEqual(["text", "text"]);
  });

  test.each([
    ["mcp_tool_use", { type: "mcp_tool_use", id: "m", name: "n", server_name: "s", input: { a: 1 } }],
    ["mcp_tool_result", { type: "mcp_tool_result", tool_use_id: "m", is_error: false, content: [] }],
    ["web_fetch_tool_result", { type: "web_fetch_tool_result", tool_use_id: "m", content: { type: "x" } }],
    ["code_execution_tool_result", { type: "code_execution_tool_result", tool_use_id: "m", content: {} }],
    ["container_upload", { type: "container_upload", file_id: "f" }],
    ["one of tomorrow", { type: "hologram", depth: [1, { two: null }] }],
  ])("%s is sent back unchanged", (_, data) => {
    const message = answer(head(), ...block(0, data), ...tail("end_turn"));
    expect(backOf({ ...message, provider: "anthropic" })).toEqual([data]);
  });

  test("a compaction has the values of its delta, and its signature", () => {
    const start = { type: "compaction", content: null, signature: "s" };
    const delta = { type: "compaction_delta", content: "Summary", encrypted_content: "Eq==" };
    const message = answer(head(), ...block(0, start, delta), ...tail("end_turn"));
    expect(backOf({ ...message, provider: "anthropic" })).toEqual([
      { type: "compaction", content: "Summary", encrypted_content: "Eq==", signature: "s" },
    ]);
  });

  test("incomplete ones are left out: unknown deltas, input that is not JSON", () => {
    const lost = answer(
      head(),
      ...block(0, { type: "hologram" }, { type: "hologram_delta", light: "x" }),
      ...block(1, SEARCH, { ...asked, partial_json: '{"que' }),
      ...text(2, "x"),
      ...tail("end_turn"),
    );
    expect(lost.content).toEqual([{ type: "text", text: "x" }]);
  });

  test("have no cache mark, which would change them", () => {
    const message = own([
      { type: "text", text: "x" },
      { type: "vendor", kind: FOUND.type, data: FOUND },
    ]);
    expect(backOf(message, { cache: { enabled: true, strategy: "auto" } })).toEqual([
      { type: "text", text: "x", cache_control: { type: "ephemeral" } },
      FOUND,
    ]);
  });

  test("redacted thinking is sent back unchanged, with its answer [TYP-02.1]", () => {
    const hidden = { type: "redacted_thinking", data: "EmwKAhgBEg==" };
    const message = answer(head(), ...block(0, hidden), ...text(1, "x"), ...tail("end_turn"));
    expect(message.content[0]).toEqual({
      type: "thinking",
      thinking: "",
      signature: hidden.data,
      redacted: true,
    });
    expect(backOf({ ...message, provider: "anthropic" })).toEqual([hidden, { type: "text", text: "x" }]);
  });
});

describe("citations", () => {
  const citation = {
    type: "web_search_result_location",
    url: "https://h/",
    cited_text: "c",
    encrypted_index: "E==",
  };
  const page = {
    type: "page_location",
    cited_text: "c",
    document_index: 0,
    start_page_number: 1,
    file_id: "f",
  };
  const cited = answer(
    head(),
    ...block(
      0,
      { type: "text", text: "", citations: [] },
      { type: "citations_delta", citation },
      { type: "text_delta", text: "So it is." },
      { type: "citations_delta", citation: page },
    ),
    ...tail("end_turn"),
  );

  test("are the token of their text, and are sent back with it, without fields that a request must not have", () => {
    expect(cited.content).toEqual([
      { type: "text", text: "So it is.", signature: JSON.stringify({ citations: [citation, page] }) },
    ]);
    const { file_id: _, ...taken } = page;
    expect(backOf({ ...cited, provider: "anthropic" })).toEqual([
      { type: "text", text: "So it is.", citations: [citation, taken] },
    ]);
    expect(backOf({ ...cited, provider: "elsewhere" })).toEqual([{ type: "text", text: "So it is." }]);
  });

  test.each(["", "{", "[]", '{"citations":[]}', '{"citations":[1]}', "CiQBjz1rX2"])(
    "a token of another form (%j) is not sent",
    (signature) => {
      expect(backOf(own([{ type: "text", text: "x", signature }]))).toEqual([{ type: "text", text: "x" }]);
    },
  );
});

describe("an answer that is paused", () => {
  const first = [
    head({ input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 7 }),
    ...text(0, "I search."),
    ...block(1, SEARCH, { type: "input_json_delta", partial_json: '{"query":"x"}' }),
    ...tail("pause_turn", { output_tokens: 20 }),
  ];
  const second = [
    head({ input_tokens: 30, output_tokens: 1 }),
    ...block(0, FOUND),
    ...text(1, "Sunny."),
    ...tail("end_turn"),
  ];

  async function asking(parts: readonly (readonly object[])[], maxContinuations?: number) {
    let at = 0;
    const server = await LoopbackServer.start((response) => {
      const events = parts[Math.min(at, parts.length - 1)] as readonly object[];
      at += 1;
      response.writeHead(200, { "content-type": "text/event-stream" }).end(encodeSse(events));
    });
    const pool = createHttp();
    cleanup.push(
      async () => await server.stop(),
      async () => await pool.close(),
    );
    const provider = new AnthropicMessages({
      http: pool,
      ...(maxContinuations !== undefined && { maxContinuations }),
    });
    const deltas: ModelDelta[] = [];
    const request = createRequest(anthropic("claude-opus-5", { baseUrl: server.url }), { thinking: "low" });
    const asked = provider.stream(request, {
      signal: new AbortController().signal,
      onDelta: (delta) => deltas.push(delta),
    });
    return { asked, deltas, bodies: () => server.received.map(({ body }) => JSON.parse(body)) };
  }

  test("is continued from its content, and is one answer with the usage of both", async () => {
    const { asked, deltas, bodies } = await asking([first, second]);
    const message = await asked;
    const searched = { ...SEARCH, input: { query: "x" } };
    expect(message.content).toEqual([
      { type: "text", text: "I search." },
      { type: "vendor", kind: "server_tool_use", data: searched },
      { type: "vendor", kind: "web_search_tool_result", data: FOUND },
      { type: "text", text: "Sunny." },
    ]);
    expect(message).toMatchObject({
      stopReason: "stop",
      // The second request contained the first part.
      usage: { input: 40, output: 25, cacheRead: 7, totalTokens: 72 },
      longestQuestion: 30,
    });
    expect(deltas).toEqual([
      { type: "text", index: 0, delta: "I search." },
      { type: "text", index: 3, delta: "Sunny." },
    ]);
    const [begun, gone] = bodies();
    expect(gone).toEqual({
      ...begun,
      messages: [
        ...begun.messages,
        { role: "assistant", content: [{ type: "text", text: "I search." }, searched] },
      ],
    });
  });

  test("because the server has compacted the conversation is continued too", async () => {
    const summary = { type: "compaction", content: "Summary", encrypted_content: "Eq==" };
    const compacted = [head(), ...block(0, summary), ...tail("compaction")];
    const { asked, bodies } = await asking([compacted, [head(), ...text(0, "Sunny."), ...tail("end_turn")]]);
    expect((await asked).content).toEqual([
      { type: "vendor", kind: "compaction", data: summary },
      { type: "text", text: "Sunny." },
    ]);
    expect(bodies()[1].messages.at(-1)).toEqual({ role: "assistant", content: [summary] });
  });

  test("is continued repeatedly, up to a limit", async () => {
    const { asked, bodies } = await asking([first]);
    expect((await asked).content).toHaveLength(18);
    expect(bodies()).toHaveLength(9);
    const never = await asking([first], 0);
    expect((await never.asked).stopReason).toBe("stop");
    expect(never.bodies()).toHaveLength(1);
  });

  test("is not continued if it has calls of ours, or no content", async () => {
    const call = block(0, { type: "tool_use", id: "toolu_1", name: "read", input: {} });
    const calls = await asking([[head(), ...call, ...tail("pause_turn")]]);
    expect(await calls.asked).toMatchObject({ stopReason: "toolUse" });
    const nothing = await asking([[head(), ...tail("pause_turn")]]);
    expect((await nothing.asked).content).toEqual([]);
    expect([calls.bodies().length, nothing.bodies().length]).toEqual([1, 1]);
  });

  test("fails as a whole if its continuation fails", async () => {
    const { asked } = await asking([
      first,
      [head(), { type: "error", error: { type: "overloaded_error", message: "no" } }],
    ]);
    expect(await catchProviderError(asked)).toMatchObject({ fault: "rate-limited" });
  });
});

describe("refusals, tiers and counters", () => {
  test("a refusal states its category, and is not sent back", () => {
    const details = { type: "refusal", category: "bio", explanation: "It could harm." };
    const message = answer(head(), ...text(0, "I c"), ...tail("refusal", {}, { stop_details: details }));
    expect(message).toMatchObject({ stopReason: "guardRail", errorMessage: "refused (bio): It could harm." });
    const kept = backOf({ ...message, provider: "anthropic" });
    expect(kept).toEqual([{ type: "text", text: "b" }]);
  });

  test("a tier is requested by its name, and reported if it is not the standard one", () => {
    const model: ModelConfig = { ...anthropic("claude-opus-5"), serviceTier: "standard_only" };
    expect(buildAnthropicRequest(createRequest(model))).toMatchObject({ service_tier: "standard_only" });
    const tier = (service_tier: unknown) =>
      answer(head({ input_tokens: 1, service_tier }), ...tail("end_turn")).serviceTier;
    expect([tier("priority"), tier("standard"), tier(null)]).toEqual(["priority", undefined, undefined]);
  });

  test("tokens written to a cache are counted once, by their sum or by their parts, and have a price of their own [CACHE-04.1-2]", () => {
    const parts = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 12 };
    const used = (usage: object) => answer(head({ input_tokens: 5, ...usage }), ...tail("end_turn")).usage;
    expect(used({ cache_creation_input_tokens: 42, cache_creation: parts }).cacheWrite).toBe(42);
    expect(used({ cache_creation: parts }).cacheWrite).toBe(42);
    expect(used({ cache_creation: null, cache_creation_input_tokens: null }).cacheWrite).toBe(0);
    const usage = used({ cache_creation: parts, cache_read_input_tokens: 1000 });
    const rates = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 };
    expect(computeCost(usage, rates)).toBeCloseTo((5 * 5 + 5 * 25 + 1000 * 0.5 + 42 * 6.25) / 1_000_000, 12);
  });

  test("the type of thinking is the model's, unless the configuration sets another", () => {
    const asked = (id: string, thinkingStyle?: ModelConfig["thinkingStyle"]) => {
      const model = { ...anthropic(id), ...(thinkingStyle !== undefined && { thinkingStyle }) };
      return buildAnthropicRequest(createRequest(model, { thinking: "medium" })).thinking?.type;
    };
    expect([asked("claude-opus-4-6"), asked("claude-opus-5")]).toEqual(["enabled", "adaptive"]);
    expect([asked("claude-opus-4-6", "adaptive"), asked("my-own", "level")]).toEqual([
      "adaptive",
      "adaptive",
    ]);
    expect(asked("claude-opus-5", "budget")).toBe("enabled");
  });
});

test("an OAuth token is sent only if the owner configures it, under the client's own name [PROV-12, GAP-06]", async () => {
  const pool = createHttp();
  cleanup.push(async () => await pool.close());
  const headers = { Authorization: "Bearer ${OAUTH_TOKEN}", "anthropic-beta": "oauth-2025-04-20" };
  const { headers: sent } = await captureRequest((baseUrl) => {
    const { apiKey: _, ...model } = anthropic("claude-opus-5", { baseUrl, headers });
    return new AnthropicMessages({ http: pool }).stream(
      { ...createRequest(model), apiKey: undefined },
      { signal: new AbortController().signal },
    );
  });
  expect(sent).toMatchObject({
    authorization: "Bearer ${OAUTH_TOKEN}",
    "anthropic-beta": "oauth-2025-04-20",
  });
  expect(sent["x-api-key"]).toBeUndefined();
  expect(sent["user-agent"]).toBe("holdfast");
  expect(sent["x-app"]).toBeUndefined();
});
