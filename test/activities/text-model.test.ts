import pino from "pino";
import { describe, expect, test } from "vitest";
import { planCompaction } from "../../src/activities/compact/plan-compaction.ts";
import { TextModel } from "../../src/activities/model/text-model.ts";
import type { CompactionStrategy } from "../../src/hooks/compaction-strategy.ts";
import { NamedRegistry } from "../../src/hooks/named-registry.ts";
import { Outages } from "../../src/models/outages.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import type { SecretSource } from "../../src/models/secrets.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { answer, entriesOf, user } from "../core/compaction-messages.ts";

const usage = { input: 1000, output: 100, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1100 };
const model = (id: string, input: number, contextWindow = 100_000) => ({
  id,
  api: "custom_fake" as const,
  provider: "fake",
  baseUrl: "http://localhost:1",
  contextWindow,
  cost: { input, output: 10 * input },
});
const definition = AgentDefinition.parse({
  model: model("own", 1),
  fallbacks: [model("small", 3, 4000), model("large", 5)],
  retry: { maxRetries: 0 },
  context: {
    maxContextTokens: 3000,
    systemPromptTokens: 0,
    compaction: { strategy: "summary", keepFirstTurns: 0, keepRecentTurns: 1, maxSummaryTokens: 300 },
  },
});

/** @param refuses - By model, the fault that it fails with. */
function world(refuses: Readonly<Record<string, ProviderError>>, secrets: SecretSource = () => undefined) {
  const asked: ModelRequest[] = [];
  const providers = new ProviderRegistry();
  providers.register({
    id: "fake",
    protocol: "custom_fake",
    stream: async (request) => {
      asked.push(request);
      const { id } = request.model;
      const error = refuses[id];
      if (error !== undefined) throw error;
      const content = [{ type: "text" as const, text: `by ${id}` }];
      return {
        ...{ role: "assistant" as const, content, stopReason: "stop" as const },
        ...{ model: id, provider: "fake", usage, timestamp: 0 },
      };
    },
  });
  return { asked, helpers: { providers, secrets, outages: new Outages() } };
}

const gone = new ProviderError("auth", "no such key", { status: 401 });
const signal = new AbortController().signal;

describe("a text that an agent's own model cannot write [PROV-28]", () => {
  test("is written by a fallback, billed at its price, and reported; the next call begins with that fallback", async () => {
    const { asked, helpers } = world({ own: gone });
    const texts = new TextModel(definition, helpers);
    const question = { instructions: "Shorten.", text: "words", maxTokens: 300 };
    expect(await texts.ask(question, signal)).toBe("by small");
    expect(await texts.ask(question, signal)).toBe("by small");
    expect(asked.map((request) => request.model.id)).toEqual(["own", "small", "small"]);
    expect(texts.usage.input).toBe(2000);
    expect(texts.costUsd).toBeCloseTo((2 * (1000 * 3 + 100 * 30)) / 1e6, 12);
    const from = [{ provider: "fake", model: "own", fault: "auth" }];
    expect(texts.fallbacks).toMatchObject([{ to: { provider: "fake", model: "small" }, from }]);
  });

  test("is not requested from a fallback that is too small for it", async () => {
    const { asked, helpers } = world({ own: gone });
    const texts = new TextModel(definition, helpers);
    const question = { instructions: "Shorten.", text: "x".repeat(4 * 3800), maxTokens: 300 };
    expect(await texts.ask(question, signal)).toBe("by large");
    expect(asked.map((request) => request.model.id)).toEqual(["own", "large"]);
  });

  test("is requested once more with a new key [CRED-01.1-2]", async () => {
    let key = "old";
    const secrets = Object.assign(() => key, {
      invalidate: () => {
        key = "new";
      },
    });
    const { asked, helpers } = world({ own: gone }, secrets);
    const { fallbacks: _, ...own } = definition;
    const keyed = { ...own, model: { ...own.model, apiKey: "${KEY}" } };
    const asking = new TextModel(keyed, helpers).ask({ instructions: "", text: "", maxTokens: 1 }, signal);
    await expect(asking).rejects.toBe(gone);
    expect(asked.map(({ apiKey }) => apiKey)).toEqual(["old", "new"]);
  });
});

test("a summary's record is cut to the window of the model that is called [PROV-28]", async () => {
  const long = "All work and no play makes a long day. ".repeat(80);
  const talk = entriesOf(
    Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? user(`${n}`) : answer(long, []))),
  );
  const spans = [{ from: 0, to: talk.length, turns: 6, tokens: 10_000 }];
  const view = { branch: "main", ranges: spans };
  const { asked, helpers } = world({ own: gone });
  const compactions = {
    compactions: new NamedRegistry<CompactionStrategy>("compaction strategy", {}, ["block", "summary"]),
  };
  const step = { reason: { type: "size" } as const, view, contextTokens: 10_000, viewTokens: 10_000 };
  const more = { ...compactions, tools: new ToolRegistry(), log: pino({ enabled: false }) };
  const plan = await planCompaction(talk, definition, step, { ...helpers, ...more }, signal);
  const [own, small] = asked.map(({ messages }) => JSON.stringify(messages).length);
  expect(own).toBeGreaterThan(12_000);
  expect(small).toBeLessThan(4000 * 4);
  expect(small).toBeLessThan(own ?? 0);
  expect(JSON.stringify(plan.sections)).toContain("by small");
  expect(plan).toMatchObject({ fallbacks: [{ to: { model: "small" } }] });
  expect(plan.costUsd).toBeCloseTo(((asked.length - 1) * (1000 * 3 + 100 * 30)) / 1e6, 12);
});
