import type Anthropic from "@anthropic-ai/sdk";
import { afterAll, expect, test } from "vitest";
import * as models from "../../src/config/vendor-models.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import type { Message } from "../../src/schema/message.ts";
import { type ModelConfig, Protocol } from "../../src/schema/model.ts";
import type { ModelServer } from "../../src/testing/index.ts";
import type { ModelScript } from "../../src/testing/model-server/script.ts";
import { startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp, createRequest } from "../providers/answer-reader.ts";
import {
  catchFailure,
  createAnthropic,
  createAnthropicRequest,
  createOpenAi,
  createOpenAiRequest,
  startServer,
} from "./vendor-clients.ts";

const pool = createHttp();
afterAll(async () => await pool.close());

/** A request after `turn` answers. */
function atTurn(turn: number, text = "hello"): Anthropic.MessageCreateParamsNonStreaming {
  const history = Array.from({ length: turn }, (_, index): Anthropic.MessageParam[] => [
    { role: "assistant", content: `answer ${index}` },
    { role: "user", content: "go on" },
  ]);
  return {
    ...createAnthropicRequest(text),
    messages: [...createAnthropicRequest(text).messages, ...history.flat()],
  };
}

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

test("the reply depends on the turn, whatever was requested before and how often [PROV-06.1-2]", async () => {
  const server = await startServer({ replies: [{ text: "zero" }, { text: "one" }, { text: "two" }] });
  const client = createAnthropic(server);
  const ask = async (turn: number) => textOf(await client.messages.create(atTurn(turn)));
  expect([await ask(2), await ask(0), await ask(0), await ask(1), await ask(7)]).toEqual([
    "two",
    "zero",
    "zero",
    "one",
    "done",
  ]);
  expect([server.answersPaid(), server.answersRepaid()]).toEqual([5, 1]);
  expect(server.paid().find((turn) => turn.turn === 0)).toMatchObject({ asked: 2, answered: 2 });
});

test("simultaneous conversations keep their own scripts and faults", async () => {
  const server = await startServer({
    conversations: [
      { match: "blue", replies: [{ text: "sky" }], faults: [{ fault: "overloaded", onTurn: 0, times: 2 }] },
      { match: (question) => question.system === "be green", replies: [{ text: "grass" }] },
    ],
    defaultReply: { text: "nothing" },
  });
  const client = createAnthropic(server);
  const retried = async (text: string) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return { attempt, text: textOf(await client.messages.create(createAnthropicRequest(text))) };
      } catch (error) {
        if ((error as { status?: number }).status !== 529 || attempt > 9) throw error;
      }
    }
  };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => retried(`blue ${index}`)));
  expect(answers).toEqual(Array.from({ length: 20 }, () => ({ attempt: 3, text: "sky" })));
  expect(textOf(await client.messages.create({ ...createAnthropicRequest("x"), system: "be green" }))).toBe(
    "grass",
  );
  expect(textOf(await client.messages.create(createAnthropicRequest("red")))).toBe("nothing");
  expect(server.answersRepaid()).toBe(0);
});

test("the header x-conversation distinguishes otherwise identical conversations", async () => {
  const server = await startServer({ faults: [{ fault: "overloaded" }] });
  const ask = (name: string) =>
    createOpenAi(server).chat.completions.create(createOpenAiRequest(), {
      headers: { "x-conversation": name },
    });
  await catchFailure(ask("a"));
  await ask("a");
  await catchFailure(ask("b"));
  expect(server.requests.map((request) => request.conversation)).toEqual(["a", "a", "b"]);
});

test("a program may answer, and may leave the answer to the script", async () => {
  const server = await startServer({
    replies: [{ text: "scripted" }],
    respond: (question) =>
      question.lastText === "echo" ? { text: `you said ${question.lastText}` } : undefined,
  });
  expect(textOf(await createAnthropic(server).messages.create(createAnthropicRequest("echo")))).toBe(
    "you said echo",
  );
  expect(textOf(await createAnthropic(server).messages.create(createAnthropicRequest("else")))).toBe(
    "scripted",
  );
});

test("the ids of tool calls are the same when a turn is requested again, or new ones if the script says so", async () => {
  const script: ModelScript = { replies: [{ toolCalls: [{ name: "bash", arguments: {} }] }] };
  const idOf = async (client: Anthropic) =>
    (await client.messages.create(createAnthropicRequest())).content.find(
      (block) => block.type === "tool_use",
    )?.id;
  const repeated = createAnthropic(await startServer(script));
  expect(await idOf(repeated)).toBe(await idOf(repeated));
  const fresh = createAnthropic(await startServer({ ...script, toolCallIds: "fresh" }));
  expect(await idOf(fresh)).not.toBe(await idOf(fresh));
});

test("a tool call without its result is rejected as the vendor rejects it", async () => {
  const server = await startServer({});
  const call = { type: "tool_use" as const, id: "toolu_1", name: "bash", input: {} };
  const open = [...createAnthropicRequest().messages, { role: "assistant" as const, content: [call] }];
  const next = { role: "user" as const, content: "and?" };
  const claude = await catchFailure(
    createAnthropic(server).messages.create({ ...createAnthropicRequest(), messages: [...open, next] }),
  );
  expect(claude).toMatchObject({ status: 400, message: expect.stringContaining("toolu_1") });
  const gpt = await catchFailure(
    createOpenAi(server).chat.completions.create({
      ...createOpenAiRequest(),
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "bash", arguments: "{}" } }],
        },
        { role: "user", content: "and?" },
      ],
    }),
  );
  expect(gpt).toMatchObject({ status: 400, message: expect.stringContaining("call_1") });
  expect(server.requests.map((request) => request.fault)).toEqual(["invalid-request", "invalid-request"]);
});

test("keys are checked if the script names one, and masked in the record", async () => {
  const server = await startServer({ apiKey: "sk-secret" });
  await createOpenAi(server).chat.completions.create(createOpenAiRequest());
  expect(await catchFailure(createAnthropic(server).messages.create(createAnthropicRequest()))).toMatchObject(
    { status: 401 },
  );
  expect(JSON.stringify(server.requests)).not.toContain("secret");
});

test("an unknown name in a script is rejected", async () => {
  const misspelt = { replies: [{ txet: "hi" }] } as unknown as ModelScript;
  await expect(startModelServer(misspelt)).rejects.toThrow(/txet/);
  const unknown = { faults: [{ fault: "gremlin" }] } as unknown as ModelScript;
  await expect(startModelServer(unknown)).rejects.toThrow(/fault/);
});

test("old bodies are released", async () => {
  const server = await startServer({ keepBodies: 2 });
  for (let turn = 0; turn < 3; turn++)
    await createAnthropic(server).messages.create(createAnthropicRequest());
  expect(server.requests.map((request) => request.body !== undefined)).toEqual([false, true, true]);
});

const MODELS: Readonly<Record<Protocol, (server: ModelServer) => ModelConfig>> = {
  anthropic_messages: ({ url }) => models.anthropic("claude-opus-4-6", { baseUrl: url }),
  openai_completions: ({ openaiBaseUrl: baseUrl }) => models.openai("gpt-5-mini", { baseUrl }),
  openai_responses: ({ openaiBaseUrl: baseUrl }) => models.openaiResponses("gpt-5-mini", { baseUrl }),
  azure_openai_responses: ({ url }) => models.azure("gpt-5-mini", { baseUrl: url }),
  google_generative_ai: ({ googleBaseUrl: baseUrl }) => models.google("gemini-3-flash", { baseUrl }),
  google_vertex: ({ vertexBaseUrl: baseUrl }) => models.vertex("gemini-3-flash", { baseUrl }),
  bedrock_converse_stream: ({ bedrockBaseUrl: baseUrl }) =>
    models.bedrock("anthropic.claude-opus-4-6-v1", { baseUrl }),
};

test.each(Protocol.options)(
  "one script, over %s: texts, thoughts, calls, faults, requests beyond it, and no network beyond this machine [PROV-06.1-2]",
  async (api) => {
    const server = await startServer({
      replies: [
        {
          thinking: "Hm.",
          text: "I look.",
          toolCalls: [
            { name: "read", arguments: { path: "ä" } },
            { name: "list", arguments: {} },
          ],
          usage: { input: 11, output: 7, reasoning: 2 },
        },
        { text: "It is cut", stop: "length" },
      ],
      faults: [{ fault: "rate-limited", onTurn: 0 }],
      defaultReply: { text: "beyond" },
    });
    const provider = ProviderRegistry.createDefault({ http: pool }).get(api);
    const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "go" }], timestamp: 1 }];
    const ask = async () => {
      const asked = createRequest(MODELS[api](server), { apiKey: "a-bearer-key-0123456789", messages });
      const answer = await provider!.stream(asked, { signal: new AbortController().signal });
      messages.push(answer);
      for (const part of answer.content)
        if (part.type === "toolCall")
          messages.push({
            role: "toolResult",
            toolCallId: part.id,
            toolName: part.name,
            content: [],
            isError: false,
            timestamp: 1,
          });
      if (answer.stopReason !== "toolUse")
        messages.push({ role: "user", content: [{ type: "text", text: "on" }], timestamp: 1 });
      return answer;
    };
    expect(await catchFailure(ask())).toMatchObject({
      name: "ProviderError",
      fault: "rate-limited",
      status: 429,
    });
    const first = await ask();
    expect(first).toMatchObject({ stopReason: "toolUse", usage: { input: 11, output: 7, totalTokens: 18 } });
    expect(first.content.flatMap((part) => (part.type === "vendor" ? [] : [part]))).toMatchObject([
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "I look." },
      { type: "toolCall", name: "read", arguments: { path: "ä" } },
      { type: "toolCall", name: "list", arguments: {} },
    ]);
    const said = async () => {
      const { stopReason, content } = await ask();
      return [stopReason, content.map((part) => (part.type === "text" ? part.text : part.type)).join("")];
    };
    expect(await said()).toEqual(["length", "It is cut"]);
    expect(await said()).toEqual(["stop", "beyond"]);
    expect(server.requests.map(({ turn, outcome }) => [turn, outcome])).toEqual([
      [0, "faulted"],
      [0, "answered"],
      [1, "answered"],
      [2, "answered"],
    ]);
  },
);

test("the configured protocol alone selects the adapter, whatever the names of the model and its provider [PROV-01.1-2, PROV-26.3]", async () => {
  // Vendors would reject some of these requests for such a model.
  const server = await startServer({ strict: false });
  const registry = ProviderRegistry.createDefault({ http: pool });
  for (const api of Protocol.options) {
    for (const [id, provider] of [
      ["gpt-5-claude-opus-5-5", "anthropic"],
      ["gemini-3-pro", "openai"],
      ["anthropic.claude-opus-5-5", "google"],
    ] as const) {
      const model = { ...MODELS[api](server), id, provider };
      const asked = createRequest(model, { apiKey: "a-bearer-key-0123456789" });
      const answer = await registry.get(model.api)!.stream(asked, { signal: new AbortController().signal });
      expect(answer).toMatchObject({ model: id, provider, stopReason: "stop" });
      const { protocol } = server.requests.at(-1)!;
      expect(protocol).toBe(api === "azure_openai_responses" ? "openai_responses" : api);
    }
  }
  expect(server.requests).toHaveLength(21);
});

test("a script with misspelt keys is refused with each of them, and the one before stays", async () => {
  const server = await startServer({ replies: [{ text: "zero" }] });
  const invalid = { replys: [], replies: [{ texte: "zero" }] } as object as ModelScript;
  const problems = /script is invalid\. .*texte: unknown key.*replys: unknown key; did you mean "replies"\?/;
  expect(() => server.script(invalid)).toThrow(problems);
  await expect(startModelServer(invalid)).rejects.toThrow(problems);
  const put = await fetch(`${server.url}/__script`, { method: "POST", body: JSON.stringify(invalid) });
  expect([put.status, await put.text()]).toEqual([400, expect.stringMatching(/did you mean \\"replies\\"/)]);
  expect(textOf(await createAnthropic(server).messages.create(atTurn(0)))).toBe("zero");
});
