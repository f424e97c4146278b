import type OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { azure, openaiResponses } from "../../src/config/vendor-models.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import type { ModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp, createRequest } from "../providers/answer-reader.ts";
import { responseStreams } from "../support/recordings.ts";
import { catchFailure, createOpenAi, startServer } from "./vendor-clients.ts";

const REPLY: Reply = {
  thinking: { text: "Let me see.", signature: "gAAA" },
  text: "I look ünto it.",
  toolCalls: [
    { id: "call_1", name: "read", arguments: { path: "ä" } },
    { name: "bash", arguments: '{"command": "ls' },
  ],
  usage: { input: 11, output: 7, reasoning: 3, cacheRead: 5, cacheWrite: 2 },
  chunkSize: 4,
};
const PARAMS = { model: "gpt-test", input: "hello", include: ["reasoning.encrypted_content" as const] };

const OUTPUT = [
  { type: "reasoning", encrypted_content: "gAAA", summary: [{ text: "Let me see." }] },
  { type: "message", content: [{ type: "output_text", text: "I look ünto it." }], phase: "commentary" },
  { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"ä"}' },
  { type: "function_call", call_id: expect.stringMatching(/^call_\w{24}$/), arguments: '{"command": "ls' },
];
const USAGE = {
  input_tokens: 18,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 25,
};

const streamOf = (server: ModelServer, params: object = {}) =>
  createOpenAi(server).responses.stream({
    ...PARAMS,
    ...params,
  } as OpenAI.Responses.ResponseCreateParamsStreaming);

describe("the vendor's SDK reads the script from the Responses stream", () => {
  test("items, usage and status, in chunks that add up", async () => {
    const server = await startServer({ replies: [REPLY] });
    const pieces: string[] = [];
    const stream = streamOf(server).on("response.output_text.delta", ({ delta }) => pieces.push(delta));
    const { output, usage, status } = await stream.finalResponse();
    expect(output).toMatchObject(OUTPUT);
    expect({ usage, status }).toEqual({ usage: USAGE, status: "completed" });
    expect(pieces).toEqual(["I lo", "ok ü", "nto ", "it."]);
  });

  test("the same without streaming", async () => {
    const server = await startServer({ replies: [REPLY] });
    expect(await createOpenAi(server).responses.create(PARAMS)).toMatchObject({
      output: OUTPUT,
      usage: USAGE,
    });
  });

  test("reasoning is encrypted only if that is requested", async () => {
    const server = await startServer({ replies: [REPLY] });
    const { output } = await streamOf(server, { include: [] }).finalResponse();
    expect(output[0]).not.toHaveProperty("encrypted_content");
  });

  test.each([
    ["length", "incomplete", "max_output_tokens"],
    ["content_filter", "incomplete", "content_filter"],
    ["stop", "completed", undefined],
  ])("stop %s is %s (%s) on the wire", async (stop, status, reason) => {
    const server = await startServer({ replies: [{ text: "no", stop }] });
    const response = await streamOf(server).finalResponse();
    expect([response.status, response.incomplete_details?.reason]).toEqual([status, reason]);
  });

  test("a refusal is a separate part", async () => {
    const server = await startServer({ replies: [{ text: "I cannot.", stop: "refusal" }] });
    const { output } = await streamOf(server).finalResponse();
    expect(output).toMatchObject([{ content: [{ type: "refusal", refusal: "I cannot." }] }]);
  });

  test("an error in the middle of the stream", async () => {
    const server = await startServer({
      replies: [REPLY],
      faults: [{ fault: "mid-stream-error", message: "gone" }],
    });
    expect((await catchFailure(streamOf(server).finalResponse())).message).toContain("gone");
  });
});

describe("our adapters over it", () => {
  const registry = ProviderRegistry.createDefault({ http: createHttp() });
  const ask = async (model: ReturnType<typeof azure>, more: object = {}) =>
    await registry.get(model.api)!.stream(createRequest(model, { apiKey: "sk-secret", ...more }), {
      signal: new AbortController().signal,
    });

  test("read the script, and send its answer back so that the next turn follows [PROV-17.2, PROV-19.1]", async () => {
    const server = await startServer({ replies: [REPLY, { text: "Done." }], apiKey: "sk-secret" });
    const models = [
      openaiResponses("gpt-test", { baseUrl: server.openaiBaseUrl, reasoning: true }),
      azure("gpt-test", { baseUrl: server.url }),
      azure("gpt-test", { baseUrl: server.url, apiVersion: "v7" }),
      azure("gpt-test", { baseUrl: `${server.url}/openai/deployments/gpt-test` }),
    ];
    for (const model of models) {
      const user = {
        role: "user" as const,
        content: [{ type: "text" as const, text: "hello" }],
        timestamp: 1,
      };
      const first = await ask(model, { messages: [user] });
      expect(first).toMatchObject({
        stopReason: "toolUse",
        usage: { input: 11, output: 7, reasoning: 3, cacheRead: 5, cacheWrite: 2, totalTokens: 25 },
        content: [
          { type: "thinking", thinking: "Let me see." },
          { type: "text", text: "I look ünto it." },
          { type: "toolCall", id: "call_1", name: "read", arguments: { path: "ä" } },
          { type: "toolCall", name: "bash", arguments: '{"command": "ls' },
        ],
      });
      const second = await ask(model, { messages: [user, first] });
      expect(second).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: "Done." }] });
    }
    expect(server.requests.map(({ protocol, turn, outcome }) => [protocol, turn, outcome])).toEqual(
      models.flatMap(() => [0, 1].map((turn) => ["openai_responses", turn, "answered"])),
    );
  });
});

test("a request that the vendor would reject is rejected with its text", async () => {
  const server = await startServer({});
  const call = { type: "function_call" as const, call_id: "c", name: "read", arguments: "{}" };
  const reasoning = { type: "reasoning" as const, id: "rs_1", summary: [], encrypted_content: "g" };
  const said = { type: "message" as const, role: "assistant" as const, status: "completed" as const };
  const user = { role: "user" as const, content: "hi" };
  const words = async (input: OpenAI.Responses.ResponseInput, more: object = {}) =>
    (await catchFailure(createOpenAi(server).responses.create({ model: "gpt-test", input, ...more })))
      .message;
  expect(await words([])).toContain("must be provided");
  expect(await words([user, call])).toContain("No tool output found for function call c.");
  expect(await words([user, { type: "function_call_output", call_id: "d", output: "" }])).toContain(
    "No tool call found for function call output with call_id d.",
  );
  expect(await words([user, reasoning])).toContain("without its required following item");
  expect(await words([user, reasoning, user])).toContain("without its required following item");
  expect(
    await words([user, { ...reasoning, encrypted_content: null }, { ...said, id: "msg_1", content: [] }]),
  ).toContain("Items are not persisted");
  expect(await words([user, { ...said, id: "x", content: [] }])).toContain("begins with 'msg'");
  expect(await words([user], { max_output_tokens: 1 })).toContain("but got 1 instead");
  const json = { text: { format: { type: "json_object" } } };
  expect(await words([user], json)).toContain("must contain the word 'json'");
  expect(server.requests.every(({ fault }) => fault === "invalid-request")).toBe(true);
});

describe("the fields of recorded streams", () => {
  type Json = Record<string, unknown>;
  const eventsOf = (stream: string) =>
    stream
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice("data: ".length)) as Json);
  const kindOf = (event: Json) => `${event["type"]} ${(event["item"] as Json | undefined)?.["type"] ?? ""}`;

  const recorded = responseStreams.filter(({ file }) =>
    [
      "test_openai_responses_thinking_part_iter_0.sse",
      "test_openai_responses_phase_streamed_on_part_start_0.sse",
      "test_openai_responses__test_openai_responses_thinking_part_iter_0.sse",
    ].includes(file),
  );

  test.each(recorded)("$file: every event of it that we send has its fields", async ({ bytes }) => {
    const theirs = eventsOf(bytes.toString("utf8"));
    const server = await startServer({ replies: [REPLY] });
    const body = JSON.stringify({ ...PARAMS, stream: true });
    const ours = eventsOf(
      await (await fetch(`${server.openaiBaseUrl}/responses`, { method: "POST", body })).text(),
    );
    const known = new Map(ours.map((event) => [kindOf(event), event]));
    expect([...new Set(theirs.map(kindOf))].filter((kind) => !known.has(kind))).toEqual([]);
    for (const event of theirs) {
      const mine = known.get(kindOf(event)) as Json;
      expect(Object.keys(mine), kindOf(event)).toEqual(
        expect.arrayContaining(Object.keys(event).filter((key) => key !== "obfuscation")),
      );
      const item = event["item"] as Json | undefined;
      const fields = Object.keys(item ?? {}).filter(
        (key) => item?.["type"] !== "reasoning" || key !== "content",
      );
      expect(Object.keys((mine["item"] as Json | undefined) ?? {}), kindOf(event)).toEqual(
        expect.arrayContaining(fields.filter((key) => key !== "phase")),
      );
    }
  });
});
