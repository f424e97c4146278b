import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as models from "../../src/config/vendor-models.ts";
import { anthropic, openai } from "../../src/config/vendor-models.ts";
import { computeCacheHitRate, computeCost } from "../../src/core/budget/usage.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import type { Provider } from "../../src/models/provider.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { Message } from "../../src/schema/message.ts";
import { type CacheConfig, Protocol } from "../../src/schema/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp, createRequest } from "./answer-reader.ts";

// The tokens of an agent's turns that a vendor reads from its cache of prompt prefixes, which it matches byte by byte.

const pool = createHttp();
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  vendor = await startModelServer({ promptCache: true });
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  await vendor.stop();
  await pool.close();
});

const TOOLS = [{ name: "read", description: "Reads a file. ".repeat(320), parameters: { type: "object" } }];
const SYSTEM = "You are careful. ".repeat(200);
const zero = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** An agent's typical turns: a prompt, then calls with results; a turn has `width` calls. */
function history(turns: number, provider: string, width = 1): Message[] {
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "Read all. ".repeat(30) }], timestamp: 1 },
  ];
  for (let turn = 0; turn < turns; turn += 1) {
    const ids = Array.from({ length: width }, (_, at) => `call_${turn}_${at}`);
    messages.push({
      role: "assistant",
      content: ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: { path: id } })),
      stopReason: "toolUse",
      model: "m",
      provider,
      usage: zero,
      timestamp: 1,
    });
    for (const id of ids)
      messages.push({
        role: "toolResult",
        toolCallId: id,
        toolName: "read",
        content: [{ type: "text", text: `content of ${id}: `.repeat(40) }],
        isError: false,
        timestamp: 1,
      });
  }
  return messages;
}

async function usages(
  cache: CacheConfig,
  turns: number,
  ask: "anthropic" | "openai" = "anthropic",
  width = 1,
) {
  const all = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const more = { systemPrompt: SYSTEM, tools: TOOLS, cache, messages: history(turn, ask, width) };
    const claude = anthropic("claude-sonnet-4-5", { baseUrl: vendor.url });
    const gpt = openai("gpt-4.1", { baseUrl: vendor.openaiBaseUrl });
    const message =
      ask === "anthropic"
        ? await new AnthropicMessages({ http: pool }).stream(createRequest(claude, more), { signal })
        : await new OpenAiCompletions({ http: pool }).stream(createRequest(gpt, more), { signal });
    all.push(message.usage);
  }
  return all;
}

describe("an agent's turns at a vendor that caches marked blocks", () => {
  test("auto: each turn reads what the previous one has written, and costs less [CACHE-02.2, CACHE-04.1-2]", async () => {
    const auto = await usages({ enabled: true, strategy: "auto" }, 8);
    const off = await usages({ enabled: false, strategy: "auto" }, 8);
    for (const [turn, usage] of auto.entries()) {
      if (turn === 0) continue;
      const before = auto[turn - 1]!;
      expect(usage.cacheRead).toBe(before.cacheRead + before.cacheWrite);
    }
    expect(computeCacheHitRate(auto[7]!)).toBeGreaterThan(0.75);
    expect(off.every((usage) => usage.cacheRead + usage.cacheWrite === 0)).toBe(true);
    const rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const sum = (list: readonly (typeof zero)[]) =>
      list.reduce((total, usage) => total + computeCost(usage, rates), 0);
    expect(sum(auto)).toBeLessThan(sum(off) * 0.6);
  });

  test("by hand: only the selected parts are cached [CACHE-03.1]", async () => {
    const none = { cacheSystem: false, cacheTools: false, cacheMessages: false };
    const second = async (flags: object) => {
      vendor.reset();
      return (await usages({ enabled: true, strategy: { ...none, ...flags } }, 2))[1]!;
    };
    const tools = await second({ cacheTools: true });
    const system = await second({ cacheSystem: true });
    expect(await second({})).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
    expect(tools.cacheRead).toBeGreaterThan(1024);
    // The system prompt follows the tools, so caching it caches them too.
    expect(system.cacheRead).toBeGreaterThan(tools.cacheRead + 500);
    expect(await second({ cacheMessages: true })).toMatchObject({ cacheRead: 0 });
  });

  test("turns with more blocks than the vendor searches backwards hit at least tools and system prompt", async () => {
    const wide = await usages({ enabled: true, strategy: "auto" }, 4, "anthropic", 30);
    expect(wide[3]!.cacheRead).toBeGreaterThan(1900);
  });
});

test("at a vendor that caches automatically, every turn reads the whole previous turn [CACHE-04.1]", async () => {
  const turns = await usages({ enabled: false, strategy: "auto" }, 6, "openai");
  for (const [turn, usage] of turns.entries()) {
    expect(usage.cacheWrite).toBe(0);
    if (turn === 0) expect(usage.cacheRead).toBe(0);
    else expect(usage.cacheRead).toBe(turns[turn - 1]!.cacheRead + turns[turn - 1]!.input);
  }
});

describe("a vendor's cache", () => {
  const auto = { enabled: true, strategy: "auto" } as const;
  const asked = async (id: string, apiKey: string, messages = history(2, "anthropic")) => {
    const more = { systemPrompt: SYSTEM, tools: TOOLS, cache: auto, apiKey, messages };
    const provider = new AnthropicMessages({ http: pool });
    return (await provider.stream(createRequest(anthropic(id, { baseUrl: vendor.url }), more), { signal }))
      .usage;
  };

  test("is separate for each key and model, and ignores short prompts", async () => {
    expect((await asked("claude-sonnet-4-5", "key-of-one")).cacheWrite).toBeGreaterThan(2000);
    expect(await asked("claude-sonnet-4-5", "key-of-two")).toMatchObject({ cacheRead: 0 });
    expect(await asked("claude-sonnet-4", "key-of-one")).toMatchObject({ cacheRead: 0 });
    expect((await asked("claude-sonnet-4-5", "key-of-one")).cacheRead).toBeGreaterThan(2000);
    for (const _ of [1, 2])
      expect(await asked("claude-haiku-4-5", "key-of-one")).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
  });

  test("matches only up to the first changed byte", async () => {
    const before = await asked("claude-sonnet-4-5", "key-of-one", history(8, "anthropic"));
    const changed = history(8, "anthropic");
    changed[6] = { ...changed[6]!, content: [{ type: "text", text: "content of call_2_0!" }] } as Message;
    const after = await asked("claude-sonnet-4-5", "key-of-one", changed);
    expect(before.cacheRead).toBe(0);
    expect(after.cacheRead).toBeLessThan(before.cacheWrite / 2 + 2000);
    expect(after.cacheWrite).toBeGreaterThan(0);
  });
});

// A growing loop: the model's answers are recorded, read again and sent back.

const TURNS = 10;
const at = (baseUrl: string) => ({ baseUrl, reasoning: true });
const LOOPS: Readonly<Record<Protocol, () => ReturnType<typeof anthropic>>> = {
  anthropic_messages: () => anthropic("claude-sonnet-4-5", at(vendor.url)),
  openai_completions: () => openai("gpt-5-mini", at(vendor.openaiBaseUrl)),
  openai_responses: () => models.openaiResponses("gpt-5-mini", at(vendor.openaiBaseUrl)),
  azure_openai_responses: () => models.azure("gpt-5-mini", at(vendor.url)),
  google_generative_ai: () => models.google("gemini-3-flash-preview", at(vendor.googleBaseUrl)),
  google_vertex: () => models.vertex("gemini-3-flash-preview", at(vendor.vertexBaseUrl)),
  bedrock_converse_stream: () =>
    models.bedrock("anthropic.claude-sonnet-4-5-v1:0", at(vendor.bedrockBaseUrl)),
};
const MARKED: ReadonlySet<Protocol> = new Set(["anthropic_messages", "bedrock_converse_stream"]);

/** Two calls a turn, with thinking before them in every other turn. */
const REPLIES = Array.from({ length: TURNS }, (_, turn) => ({
  ...(turn % 2 === 0 && { thinking: `Turn ${turn}: ä🌍 "so" \\ and\non. ` }),
  ...(turn % 3 !== 1 && { text: `I look, ${turn}: <a> & \u2028 b.` }),
  toolCalls: [0, 1].map((one) => ({
    name: "read",
    arguments: { z: one, path: `f${turn}/${one}.ts`, a: { "10": 1, "2": [null, 1.5e-7, "é"] }, empty: {} },
  })),
}));

const result = (toolCallId: string, nth: number, timestamp: number): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [
    ...(nth === 2 ? [] : [{ type: "text" as const, text: `line ${nth} of ${toolCallId}\t`.repeat(20) }]),
    ...(nth % 5 === 4 ? [{ type: "image" as const, data: "aGk=", mimeType: "image/png" }] : []),
  ],
  isError: nth % 4 === 3,
  timestamp,
});

/** A message as it is read from the record. */
const recorded = (message: Message): Message => Message.parse(JSON.parse(JSON.stringify(message)));

test.each(Protocol.options)(
  "a loop of ten turns over %s: from the second turn on, everything cached by the previous turn is read, as none of it has changed [CACHE-04.1, CACHE-05.1-2, CACHE-06.2]",
  async (protocol) => {
    vendor.script({ promptCache: true, replies: REPLIES });
    const provider = ProviderRegistry.createDefault({ http: pool }).get(protocol) as Provider;
    const messages: Message[] = [
      { role: "user", content: [{ type: "text", text: "Read all. ".repeat(30) }], timestamp: 1 },
    ];
    const usages = [];
    /** The number of messages before each request. */
    const asked: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const more = {
        systemPrompt: SYSTEM,
        tools: TOOLS,
        thinking: "medium",
        apiKey: "a-bearer-key-0123456789",
      } as const;
      const cache = { enabled: true, strategy: "auto" } as const;
      asked.push(messages.length);
      const request = createRequest(LOOPS[protocol](), { ...more, cache, messages });
      const message = await provider.stream(request, { signal });
      usages.push(message.usage);
      const calls = message.content.flatMap((part) => (part.type === "toolCall" ? [part.id] : []));
      expect([turn, calls.length, message.stopReason]).toEqual([turn, 2, "toolUse"]);
      messages.push(recorded(message), ...calls.map((id, nth) => recorded(result(id, 2 * turn + nth, turn))));
      if (turn % 4 === 3)
        messages.push({
          role: "user",
          content: [{ type: "text", text: `Mind this, ${turn}.` }],
          timestamp: turn,
        });
    }
    // A vendor that caches automatically receives no cache fields.
    const said = JSON.stringify(vendor.requests.at(-1)?.body);
    expect(/cache_control|cachePoint|prompt_cache|cachedContent/.test(said)).toBe(MARKED.has(protocol));
    for (const [turn, usage] of usages.entries()) {
      const whole = usage.input + usage.cacheRead + usage.cacheWrite;
      if (turn === 0) {
        expect(usage.cacheRead).toBe(0);
        expect(whole).toBeGreaterThan(2048);
        continue;
      }
      const before = usages[turn - 1]!;
      const kept = before.cacheRead + before.cacheWrite + (MARKED.has(protocol) ? 0 : before.input);
      expect([turn, usage.cacheRead]).toEqual([turn, kept]);
      // The part that is not cached yet is what was added since.
      const come = Math.ceil(JSON.stringify(messages.slice(asked[turn - 1], asked[turn])).length / 4);
      expect(usage.input).toBeLessThan(come + 50);
    }
    expect(usages.at(-1)!.cacheRead).toBeGreaterThan(usages[1]!.cacheRead + 1000);
  },
);
