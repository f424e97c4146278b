import { describe, expect, test } from "vitest";
import { askOrReadAnswer, digestRequest } from "../../../src/activities/model/stored-answers.ts";
import { deriveCellDefinition } from "../../../src/activities/suite/cell-definition.ts";
import { findForkPosition } from "../../../src/activities/suite/fork-for-cell.ts";
import { NO_USAGE } from "../../../src/core/budget/usage.ts";
import type { ModelRequest } from "../../../src/models/provider.ts";
import { AgentDefinition } from "../../../src/schema/definition.ts";
import type { AssistantMessage } from "../../../src/schema/message.ts";
import type { StoredAnswer } from "../../../src/store/transcript/suites.ts";

const definition = AgentDefinition.parse({
  name: "a",
  model: {
    id: "m",
    api: "anthropic_messages",
    provider: "anthropic",
    baseUrl: "http://127.0.0.1:1",
    contextWindow: 1000,
    apiKey: `\${KEY}`,
    cost: { input: 1, output: 1 },
  },
});
const message = (text: string, more: object = {}) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text }],
  timestamp: 1,
  ...more,
});
const request: ModelRequest = {
  model: definition.model,
  systemPrompt: "s",
  messages: [message("hello")],
  tools: [],
  thinking: "off",
  cache: definition.cache,
} as ModelRequest;
const digest = (more: object = {}, repetition = 0, run?: string) =>
  digestRequest({ ...request, ...more } as ModelRequest, { repetition, run });

describe("the digest of a request", () => {
  const model = (more: object) => ({ model: { ...request.model, ...more } });
  test.each([
    ["the price", model({ cost: { input: 9, output: 9 } })],
    ["the name of the key", model({ apiKey: `\${OTHER}` })],
    ["the key itself", { apiKey: "sk-secret" }],
    ["headers", { ...model({ headers: { "x-a": "b" } }), headers: { "x-a": "b" } }],
    ["the display name", model({ name: "other" })],
    ["the cache key", { cacheKey: "k" }],
    ["times", { messages: [message("hello", { timestamp: 99 })] }],
    ["the model's own maximum, stated again", { maxTokens: request.model.maxTokens }],
  ])("does not change with %s", (_, more) => {
    expect(digest(more)).toBe(digest());
  });

  test.each([
    ["the model", model({ id: "other" })],
    ["where it is served", model({ baseUrl: "http://127.0.0.1:2" })],
    ["the conversation", { messages: [message("other")] }],
    ["the system prompt", { systemPrompt: "t" }],
    ["the tools", { tools: [{ name: "t", description: "", inputSchema: {} }] }],
    ["the temperature", { temperature: 0.5 }],
    ["the maximum of tokens", { maxTokens: 7 }],
    ["thinking", { thinking: "high" }],
    ["the output", { output: { name: "o", schema: {}, strict: true } }],
  ])("changes with %s", (_, more) => {
    expect(digest(more)).not.toBe(digest());
  });

  test("changes with the repetition, and with the run that shares nothing", () => {
    expect(new Set([digest(), digest({}, 1), digest({}, 0, "run-1"), digest({}, 0, "run-2")]).size).toBe(4);
  });
});

const answer = (more: Partial<AssistantMessage> = {}) =>
  ({
    role: "assistant",
    content: [{ type: "text", text: "hi" }],
    stopReason: "stop",
    usage: NO_USAGE,
    timestamp: 5,
    ...more,
  }) as AssistantMessage;

class MemoryAnswers {
  readonly stored = new Map<string, StoredAnswer>();
  async readAnswers(keys: readonly string[]) {
    return keys.flatMap((key) => this.stored.get(key) ?? []);
  }
  async putAnswer(one: StoredAnswer) {
    this.stored.set(one.key, one);
  }
}

describe("a stored answer", () => {
  const ask = (store: MemoryAnswers, session: string, given = answer()) => {
    let asked = 0;
    const send = async () => {
      asked += 1;
      return given;
    };
    return askOrReadAnswer(request, { repetition: 0, session }, store, send).then((read) => ({
      read,
      asked,
    }));
  };

  test("says where it was paid, except in that session", async () => {
    const store = new MemoryAnswers();
    expect(await ask(store, "first")).toEqual({ read: answer(), asked: 1 });
    expect(await ask(store, "first")).toEqual({ read: answer(), asked: 0 });
    const { read, asked } = await ask(store, "second");
    expect({ read, asked }).toEqual({
      read: answer({ storedFrom: { session: "first", timestamp: 5 } }),
      asked: 0,
    });
  });

  test.each(["error", "aborted"] as const)(
    "an answer that ends with %s is asked again",
    async (stopReason) => {
      const store = new MemoryAnswers();
      await ask(store, "first", answer({ stopReason }));
      expect(store.stored.size).toBe(0);
      expect(await ask(store, "first")).toMatchObject({ asked: 1 });
    },
  );

  test("an answer that was cut by its length is an answer", async () => {
    const store = new MemoryAnswers();
    await ask(store, "first", answer({ stopReason: "length" }));
    expect(store.stored.size).toBe(1);
  });
});

describe("where a forked cell begins", () => {
  const roles = ["user", "assistant", "toolResult", "assistant", "user", "assistant"];
  test.each([
    [undefined, true, 6],
    [undefined, false, 5],
    [0, true, 0],
    [0, false, 1],
    [1, true, 3],
    [1, false, 3],
    [2, true, 4],
    [2, false, 5],
    [3, true, 6],
    [3, false, 6],
    [4, true, undefined],
    [4, false, undefined],
  ])("at turn %s (own messages: %s): entry %s", (turn, hasMessages, position) => {
    expect(findForkPosition(roles, turn, hasMessages)).toBe(position);
  });

  test("a session that waits for its answer is answered", () => {
    expect(findForkPosition(["user", "assistant", "user"], undefined, false)).toBe(3);
    expect(findForkPosition([], undefined, true)).toBe(0);
  });
});

test("a cell's definition shares answers, denies what nobody approves, and so do its sub-agents", () => {
  const { model } = definition;
  const given = AgentDefinition.parse({
    name: "a",
    model,
    approvals: { timeoutMs: 5 },
    subAgents: [{ name: "c", agent: { name: "c", model } }],
  });
  const derived = deriveCellDefinition(given, { repetition: 2, run: "r" }, "/w");
  const shared = { answers: { repetition: 2, run: "r" }, followUpMode: "one-at-a-time", workspace: "/w" };
  expect(derived).toMatchObject({ ...shared, approvals: { timeoutMs: 5 } });
  expect(derived.subAgents?.[0]?.agent).toMatchObject({ ...shared, approvals: { timeoutMs: 1000 } });
  expect(deriveCellDefinition(given, { repetition: 0 })).not.toHaveProperty("workspace");
});
