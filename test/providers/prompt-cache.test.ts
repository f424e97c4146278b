import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { anthropic, openai } from "../../src/config/model-names.ts";
import { cacheHitRate, costOf } from "../../src/core/usage.ts";
import { AnthropicMessages } from "../../src/providers/anthropic-messages/provider.ts";
import { OpenAiCompletions } from "../../src/providers/openai-completions/provider.ts";
import type { Message } from "../../src/schema/message.ts";
import type { CacheConfig } from "../../src/schema/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { http, question } from "./play.ts";

// What a vendor that keeps the beginnings of prompts, and finds them again byte by byte, reads of an agent's turns.

const pool = http();
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

const TOOLS = [{ name: "read", description: "Reads a file. ".repeat(40), parameters: { type: "object" } }];
const SYSTEM = "You are careful. ".repeat(200);
const zero = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** Turns as an agent has them: a prompt, then calls with results; a turn has `width` calls. */
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
        ? await new AnthropicMessages({ http: pool }).stream(question(claude, more), { signal })
        : await new OpenAiCompletions({ http: pool }).stream(question(gpt, more), { signal });
    all.push(message.usage);
  }
  return all;
}

describe("an agent's turns at a vendor that keeps what is marked", () => {
  test("auto: each turn reads what the one before has written, and pays less [CACHE-02, CACHE-04]", async () => {
    const auto = await usages({ enabled: true, strategy: "auto" }, 8);
    const off = await usages({ enabled: false, strategy: "auto" }, 8);
    for (const [turn, usage] of auto.entries()) {
      if (turn === 0) continue;
      const before = auto[turn - 1]!;
      expect(usage.cacheRead).toBe(before.cacheRead + before.cacheWrite);
    }
    expect(cacheHitRate(auto[7]!)).toBeGreaterThan(0.75);
    expect(off.every((usage) => usage.cacheRead + usage.cacheWrite === 0)).toBe(true);
    const rates = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const sum = (list: readonly (typeof zero)[]) =>
      list.reduce((total, usage) => total + costOf(usage, rates), 0);
    expect(sum(auto)).toBeLessThan(sum(off) * 0.6);
  });

  test("by hand: only what is chosen [CACHE-03]", async () => {
    const none = { cacheSystem: false, cacheTools: false, cacheMessages: false };
    const second = async (flags: object) => {
      vendor.reset();
      return (await usages({ enabled: true, strategy: { ...none, ...flags } }, 2))[1]!;
    };
    const tools = await second({ cacheTools: true });
    const system = await second({ cacheSystem: true });
    expect(await second({})).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
    expect(tools.cacheRead).toBeGreaterThan(100);
    // The system prompt stands behind the tools: keeping it keeps them.
    expect(system.cacheRead).toBeGreaterThan(tools.cacheRead + 500);
    expect(await second({ cacheMessages: true })).toMatchObject({ cacheRead: 0 });
  });

  test("turns of more blocks than the vendor looks back find at least tools and system prompt", async () => {
    const wide = await usages({ enabled: true, strategy: "auto" }, 4, "anthropic", 30);
    expect(wide[3]!.cacheRead).toBeGreaterThan(800);
  });
});

test("at a vendor that keeps all of itself, every turn reads the whole turn before [CACHE-04]", async () => {
  const turns = await usages({ enabled: false, strategy: "auto" }, 6, "openai");
  for (const [turn, usage] of turns.entries()) {
    expect(usage.cacheWrite).toBe(0);
    if (turn === 0) expect(usage.cacheRead).toBe(0);
    else expect(usage.cacheRead).toBe(turns[turn - 1]!.cacheRead + turns[turn - 1]!.input);
  }
});
