import OpenAI from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { openaiResponses } from "../../src/config/vendor-models.ts";
import { buildConversation } from "../../src/models/conversation.ts";
import { OpenAiResponses } from "../../src/models/openai-responses/openai-responses.ts";
import { selectIdRule, toInputItems } from "../../src/models/responses/input-items.ts";
import { ResponsesAssembler } from "../../src/models/responses/responses-assembler.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import {
  errorReplies,
  hasMoreRecordings,
  NO_MORE_RECORDINGS,
  responseStreams,
} from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import {
  catchProviderError,
  type context,
  createHttp,
  createRequest,
  joinDeltas,
  readAnswer,
} from "./answer-reader.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { sliceBytes, sliceRandomly } from "./slices.ts";

const assemble = (given: typeof context) => new ResponsesAssembler(given);
const pool = createHttp();
afterAll(async () => await pool.close());

/** The vendor's own reading of the same bytes. */
async function sdkResponse(bytes: Uint8Array): Promise<OpenAI.Responses.Response> {
  const client = new OpenAI({
    apiKey: "k",
    maxRetries: 0,
    fetch: async () => new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream" } }),
  });
  return await client.responses.stream({ model: "m", input: "x" }).finalResponse();
}

type Items = readonly OpenAI.Responses.ResponseOutputItem[];

/** The fields that the SDK adds to an item that it has read. */
const PARSED = new Set(["parsed", "parsed_arguments"]);
const plain = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value, (key, field) => (PARSED.has(key) ? undefined : field)));

function translated({ id, output, status, usage, service_tier }: OpenAI.Responses.Response) {
  const details = usage?.input_tokens_details;
  const cacheRead = details?.cached_tokens ?? 0;
  const cacheWrite = details?.cache_write_tokens ?? 0;
  const calls = output.some(({ type }) => type === "function_call");
  const tier = service_tier === "auto" || service_tier === "default" ? undefined : service_tier;
  return {
    content: plain(output).flatMap(contentOf),
    stopReason: status === "incomplete" ? "length" : calls ? "toolUse" : "stop",
    usage: {
      input: (usage?.input_tokens ?? 0) - cacheRead - cacheWrite,
      output: usage?.output_tokens ?? 0,
      reasoning: usage?.output_tokens_details?.reasoning_tokens ?? 0,
      cacheRead,
      cacheWrite,
      totalTokens: usage?.total_tokens ?? 0,
    },
    responseId: id,
    serviceTier: tier ?? undefined,
  };
}

/** Reasoning that the vendor has stored itself cannot be sent back, and then nothing may refer to it. */
const isLost = (item: Items[number]) =>
  item.type === "reasoning" && !item.encrypted_content && (item.content ?? []).length === 0;

function contentOf(item: Items[number], _at: number, all: Items): unknown[] {
  const withIds = !all.some(isLost);
  switch (item.type) {
    case "message":
      return item.content.flatMap((part): unknown[] => {
        if (part.type !== "output_text") return [[part]];
        // A message without content is left out.
        if (part.text === "") return [];
        return [["text", withIds ? item.id : undefined, item.phase, part.text, part.annotations]];
      });
    case "reasoning": {
      const texts = [...item.summary, ...(item.content ?? [])].map(({ text }) => text);
      return [["thinking", texts.join("\n\n"), isLost(item) ? {} : item]];
    }
    case "function_call":
      return [
        [
          "call",
          withIds ? item.id : undefined,
          item.call_id,
          item.namespace,
          item.name,
          JSON.parse(item.arguments),
        ],
      ];
    default:
      return [["vendor", item.type, item]];
  }
}

function ours({ content, stopReason, usage, responseId, serviceTier }: AssistantMessage) {
  return { content: content.map(ourContent), stopReason, usage, responseId, serviceTier };
}

function ourContent(part: AssistantMessage["content"][number]): unknown[] {
  const token = "signature" in part && part.signature !== undefined ? JSON.parse(part.signature) : {};
  switch (part.type) {
    case "text":
      return ["text", token.id, token.phase, part.text, token.annotations ?? []];
    case "thinking":
      return ["thinking", part.thinking, token];
    case "toolCall":
      return ["call", token.id, part.id, token.namespace, part.name, part.arguments];
    case "vendor":
      return ["vendor", part.kind, part.data];
    default:
      return [part];
  }
}

const saysSomething = (item: Items[number]) =>
  item.type !== "message" || item.content.some((part) => part.type !== "output_text" || part.text !== "");

const pathOf = (uri: string) => new URL(uri).pathname;

describe("recorded replies of the Responses API [PROV-18]", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many", () => {
    expect(responseStreams.length).toBeGreaterThanOrEqual(15);
  });

  test.each(responseStreams)("$file ($host): same as the SDK, in slices of every size", async ({ bytes }) => {
    const { message, deltas } = readAnswer(assemble, [bytes]);
    expect(ours(message)).toEqual(translated(await sdkResponse(bytes)));
    // An image has millions of bytes.
    const longest = Math.max(400, bytes.length / 2000);
    if (longest === 400) expect(readAnswer(assemble, sliceBytes(bytes)).message).toEqual(message);
    for (let seed = 1; seed <= 8; seed += 1) {
      const sliced = readAnswer(assemble, sliceRandomly(bytes, seed, longest));
      expect(sliced.message).toEqual(message);
      expect(joinDeltas(sliced.deltas)).toEqual(joinDeltas(deltas));
    }
    const blocks = joinDeltas(deltas);
    for (const [index, part] of message.content.entries()) {
      if (part.type === "text") expect(blocks[index]).toBe(`text:${part.text}`);
      if (part.type === "thinking") expect(blocks[index] ?? "thinking:").toBe(`thinking:${part.thinking}`);
      if (part.type === "toolCall")
        expect(JSON.parse(blocks[index]!.slice("toolCall:".length))).toEqual(part.arguments);
    }
  });

  test.each(responseStreams)("$file ($host): same over HTTP", async ({ bytes, ct, uri }) => {
    const expected = readAnswer(assemble, [bytes]).message;
    for (const slices of [
      [bytes],
      sliceRandomly(bytes, 3, 8000),
      ...(bytes.length < 6000 ? [sliceBytes(bytes)] : []),
    ]) {
      const server = await LoopbackServer.start(async (response) => {
        response.writeHead(200, { "content-type": ct });
        await writeSlices(response, slices);
      });
      const model = openaiResponses("m", { baseUrl: server.url + pathOf(uri) });
      const message = await new OpenAiResponses({ http: pool }).stream(createRequest(model), {
        signal: new AbortController().signal,
      });
      expect(ours(message)).toEqual(ours(expected));
      expect(server.received[0]?.url).toBe(pathOf(uri));
      await server.stop();
    }
  });

  test.each(responseStreams)(
    "$file ($host): cut off anywhere before its end, it is broken",
    async ({ bytes }) => {
      const { message } = readAnswer(assemble, [bytes]);
      // The position at which the data of the last event is complete; Bedrock puts the event's name after it.
      const whole = bytes.indexOf("\n", bytes.indexOf('"response.completed"'));
      let at = 0;
      const places = sliceRandomly(bytes, 5, bytes.length / 8).map((slice) => {
        at += slice.length;
        return at;
      });
      for (const cut of [0, 1, whole - 1, whole, ...places]) {
        const part = [bytes.subarray(0, cut)];
        if (cut >= whole) expect(readAnswer(assemble, part).message).toEqual(message);
        else
          expect((await catchProviderError((async () => readAnswer(assemble, part))())).fault).toBe(
            "network",
          );
      }
    },
  );

  test.each(responseStreams)(
    "$file ($host): is sent back unchanged [PROV-17.2, TYP-02.2]",
    async ({ bytes }) => {
      const { output } = plain(await sdkResponse(bytes));
      const { message } = readAnswer(assemble, [bytes]);
      const items = toInputItems(
        buildConversation([message], message.provider, selectIdRule("vendor")),
      ).filter((item) => !("type" in item && item.type === "function_call_output"));
      if (output.some(isLost)) {
        expect(JSON.stringify(items)).not.toMatch(/"(?:rs|fc)_|msg_[0-9a-f]{8}/);
        return;
      }
      const expected = output.filter(saysSomething).map((item) => {
        if (item.type === "message") {
          const content = item.content.map((part) => {
            const { logprobs: _logprobs, ...rest } = part as OpenAI.Responses.ResponseOutputText;
            return rest;
          });
          return { ...item, content };
        }
        if (item.type !== "function_call") return item;
        const { status: _status, ...call } = item;
        return { ...call, arguments: JSON.stringify(JSON.parse(call.arguments)) };
      });
      expect(items).toEqual(expected);
    },
  );

  const errors = errorReplies.filter(({ uri }) => uri.endsWith("/responses"));
  test.each(errors)("$file ($status): the same error as the SDK's", async ({ bytes, status, ct }) => {
    const server = await LoopbackServer.start((response) =>
      response.writeHead(status, { "content-type": ct, "x-request-id": "req_7" }).end(bytes),
    );
    const client = new OpenAI({ apiKey: "k", baseURL: `${server.url}/v1`, maxRetries: 0 });
    const theirs = await client.responses.create({ model: "m", input: "x", stream: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const model = openaiResponses("m", { baseUrl: server.url });
    const error = await catchProviderError(
      new OpenAiResponses({ http: pool }).stream(createRequest(model), {
        signal: new AbortController().signal,
      }),
    );
    await server.stop();
    expect(theirs).toBeInstanceOf(OpenAI.APIError);
    const { status: code, type, requestID } = theirs as InstanceType<typeof OpenAI.APIError>;
    expect(error).toMatchObject({ fault: "api", status: code, vendorType: type, requestId: requestID });
  });
});
