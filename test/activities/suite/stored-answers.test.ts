import { expect, test } from "vitest";
import { askOrReadAnswer, digestRequest } from "../../../src/activities/model/stored-answers.ts";
import type { ModelRequest } from "../../../src/models/provider.ts";
import type { AssistantMessage } from "../../../src/schema/message.ts";
import { ModelConfig } from "../../../src/schema/model.ts";
import type { StoredAnswer } from "../../../src/store/transcript/suites.ts";

const model = ModelConfig.parse({
  id: "m",
  api: "anthropic_messages",
  provider: "scripted",
  baseUrl: "http://127.0.0.1:9",
  contextWindow: 1000,
});

const request: ModelRequest = {
  model,
  apiKey: "sk-1",
  headers: { "x-a": "1" },
  systemPrompt: "Be brief.",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 1 }],
  tools: [],
  thinking: "off",
  cache: { enabled: true } as ModelRequest["cache"],
  cacheKey: "k",
};

const first = request.messages[0]!;

test.each<[string, Partial<ModelRequest>]>([
  ["another key", { apiKey: "sk-2" }],
  ["other headers", { headers: {} }],
  ["another time", { messages: [{ ...first, timestamp: 2 }] }],
  ["another group of the cache", { cacheKey: "other" }],
  ["another price", { model: { ...model, cost: { input: 9, output: 9 } as never } }],
  ["another display name", { model: { ...model, name: "M" } }],
])("%s is the same question", (_, change) => {
  expect(digestRequest({ ...request, ...change }, 0)).toBe(digestRequest(request, 0));
});

test.each<[string, Partial<ModelRequest>]>([
  ["another system prompt", { systemPrompt: "Be long." }],
  ["another text", { messages: [{ ...first, content: [{ type: "text", text: "Ho" }] } as never] }],
  ["another model", { model: { ...model, id: "n" } }],
  ["another address", { model: { ...model, baseUrl: "http://127.0.0.1:10" } }],
  ["another temperature", { temperature: 1 }],
  ["another limit of the answer", { maxTokens: 5 }],
  ["thinking", { thinking: "high" }],
  ["a tool", { tools: [{ name: "t", description: "", inputSchema: {} } as never] }],
])("%s is another question", (_, change) => {
  expect(digestRequest({ ...request, ...change }, 0)).not.toBe(digestRequest(request, 0));
});

test("a repetition is another question", () => {
  expect(digestRequest(request, 1)).not.toBe(digestRequest(request, 0));
});

const answer = (stopReason: AssistantMessage["stopReason"]): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "Ho" }],
  stopReason,
  model: "m",
  provider: "scripted",
  usage: { input: 1, output: 1, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 2 },
  timestamp: 7,
});

/** A store in memory, which counts what was asked of the vendor. */
function createStore(stopReason: AssistantMessage["stopReason"] = "stop") {
  const stored = new Map<string, StoredAnswer>();
  let paid = 0;
  const store = {
    readAnswers: async (keys: readonly string[]) => keys.flatMap((key) => stored.get(key) ?? []),
    putAnswer: async (one: StoredAnswer) => {
      if (!stored.has(one.key)) stored.set(one.key, one);
    },
  };
  const ask = async () => {
    paid += 1;
    return answer(stopReason);
  };
  const askIn = (session: string, repetition = 0) =>
    askOrReadAnswer(request, { repetition, session }, store, ask);
  return { askIn, count: () => paid };
}

test("an answer is paid once, and another session reads where", async () => {
  const { askIn, count } = createStore();
  expect(await askIn("a")).not.toHaveProperty("storedFrom");
  expect(await askIn("b")).toMatchObject({ storedFrom: { session: "a", timestamp: 7 } });
  expect(count()).toBe(1);
});

test("the session that has paid an answer takes it back as its own", async () => {
  const { askIn, count } = createStore();
  await askIn("a");
  expect(await askIn("a")).not.toHaveProperty("storedFrom");
  expect(count()).toBe(1);
});

test("repetitions do not share answers", async () => {
  const { askIn, count } = createStore();
  await askIn("a", 0);
  await askIn("a", 1);
  expect(count()).toBe(2);
});

test.each(["error", "aborted"] as const)(
  "an answer that ended with %s is asked for again",
  async (reason) => {
    const { askIn, count } = createStore(reason);
    await askIn("a");
    await askIn("b");
    expect(count()).toBe(2);
  },
);
