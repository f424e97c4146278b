import OpenAI from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { local } from "../../src/config/vendor-models.ts";
import { CompletionsAssembler } from "../../src/models/openai-completions/completions-assembler.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import { ProviderError } from "../../src/models/provider-error.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { completionStreams, hasMoreRecordings, NO_MORE_RECORDINGS } from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import {
  catchProviderError,
  type context,
  createHttp,
  createRequest,
  encodeSse,
  joinDeltas,
  readAnswer,
} from "./answer-reader.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { pickCutPoints, sliceBytes, sliceRandomly } from "./slices.ts";

const assemble = (given: typeof context) => new CompletionsAssembler(given);
const pool = createHttp();
afterAll(async () => await pool.close());

/** Groq has its usage in a field of its own. */
type Chunk = OpenAI.ChatCompletionChunk & { x_groq?: { usage?: OpenAI.CompletionUsage } };

/** Groq's compound systems send no role, without which the SDK reads nothing. */
function withRole(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("utf8");
  return text.includes('"role":')
    ? bytes
    : Buffer.from(text.replace('"delta":{', '"delta":{"role":"assistant",'));
}

/** The vendor's own reading of the same bytes. Its final message loses a usage that is followed by an empty one. */
async function sdkCompletion(recorded: Uint8Array): Promise<OpenAI.ChatCompletion> {
  const bytes = withRole(recorded);
  const client = new OpenAI({
    apiKey: "k",
    maxRetries: 0,
    logLevel: "off",
    fetch: async () => new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream" } }),
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "x" }];
  let usage: OpenAI.CompletionUsage | undefined;
  const stream = client.chat.completions.stream({ model: "m", messages });
  let id: string | undefined;
  stream.on("chunk", (chunk: Chunk) => {
    id ??= chunk.id;
    usage = chunk.usage ?? chunk.x_groq?.usage ?? usage;
  });
  const completion = await stream.finalChatCompletion();
  // If chunks have several ids, the SDK uses the last; we use the first.
  return { ...completion, ...(usage && { usage }), ...(id && { id }) };
}

const REASONS: Record<string, string> = {
  stop: "stop",
  length: "length",
  tool_calls: "toolUse",
  content_filter: "guardRail",
};

/** Mistral's parts are objects, which the SDK can only print. */
const PRINTED = /\[object Object\]/g;

function translated({ id, choices, usage }: OpenAI.ChatCompletion) {
  const [choice] = choices;
  const message = choice!.message;
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    text: (message.content ?? "").replace(PRINTED, ""),
    calls: (message.tool_calls ?? []).map((call) =>
      call.type === "function" ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : call,
    ),
    stopReason: REASONS[choice!.finish_reason],
    usage: {
      input: (usage?.prompt_tokens ?? 0) - cached,
      output: usage?.completion_tokens ?? 0,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
      cacheRead: cached,
      cacheWrite: 0,
      totalTokens: usage?.total_tokens ?? 0,
    },
    responseId: id,
  };
}

function ours({ content, stopReason, usage, responseId }: AssistantMessage) {
  return {
    text: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
    calls: content.flatMap((part) =>
      part.type === "toolCall" ? [[part.id, part.name, part.arguments]] : [],
    ),
    stopReason,
    usage,
    responseId,
  };
}

/** What the SDK does not know: thinking, collected from the raw bytes by a plain reading of each line. */
function rawThinking(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta ?? {})
    .map((delta) => {
      const parts = Array.isArray(delta.content) ? delta.content : [];
      const said = parts.flatMap((part: { thinking?: { text: string }[] }) => part.thinking ?? []);
      return (
        delta.reasoning_content ??
        delta.reasoning ??
        said.map((piece: { text: string }) => piece.text).join("")
      );
    })
    .join("");
}

async function outcomeOf(bytes: Uint8Array): Promise<AssistantMessage | ProviderError> {
  const played = Promise.resolve().then(() => readAnswer(assemble, [bytes]).message);
  return await played.catch((error: unknown) => {
    if (error instanceof ProviderError) return error;
    throw error;
  });
}

/** Groq ends some answers with an error. */
const isBroken = ({ bytes }: { readonly bytes: Buffer }) => bytes.includes("\nevent: error");
const whole = completionStreams.filter((one) => !isBroken(one));

describe("recorded replies of chat completions", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many, of several vendors", () => {
    expect(whole.length).toBeGreaterThanOrEqual(30);
    expect(new Set(whole.map(({ host }) => host)).size).toBeGreaterThanOrEqual(5);
  });

  test.each(whole)("$file ($host): same as the SDK, in slices of every size", async ({ bytes }) => {
    const expected = translated(await sdkCompletion(bytes));
    const { message, deltas } = readAnswer(assemble, [bytes]);
    expect(ours(message)).toEqual(expected);
    expect(readAnswer(assemble, sliceBytes(bytes)).message).toEqual(message);
    for (let seed = 1; seed <= 8; seed += 1) {
      expect(readAnswer(assemble, sliceRandomly(bytes, seed)).message).toEqual(message);
    }
    const thinking = message.content.map((part) => (part.type === "thinking" ? part.thinking : "")).join("");
    expect(thinking).toBe(rawThinking(bytes));
    const blocks = joinDeltas(deltas);
    for (const [index, part] of message.content.entries()) {
      if (part.type === "text") expect(blocks[index]).toBe(`text:${part.text}`);
      if (part.type === "thinking") expect(blocks[index]).toBe(`thinking:${part.thinking}`);
      if (part.type === "toolCall")
        expect(JSON.parse(blocks[index]!.slice("toolCall:".length))).toEqual(part.arguments);
    }
  });

  test.each(whole)("$file ($host): cut off anywhere, it is broken as for the SDK", async ({ bytes }) => {
    const { content, stopReason } = readAnswer(assemble, [bytes]).message;
    for (const at of [0, 1, bytes.length - 1, ...pickCutPoints(bytes, 11, 24)]) {
      const cut = bytes.subarray(0, at);
      const theirs = await sdkCompletion(cut).then(translated, () => undefined);
      const mine = await outcomeOf(cut);
      // The SDK drops a chunk that is cut off after the finish reason; for us the answer is complete by then.
      if (theirs !== undefined) expect(ours(mine as AssistantMessage)).toEqual(theirs);
      if (mine instanceof ProviderError) expect(mine.fault).toBe("network");
      else expect(mine).toMatchObject({ content, stopReason });
    }
  });

  test.each(whole)("$file ($host): same over HTTP", async ({ bytes, ct }) => {
    const expected = readAnswer(assemble, [bytes]).message;
    const ways = [
      [bytes],
      sliceRandomly(bytes, 3, 8000),
      ...(bytes.length < 4000 ? [sliceBytes(bytes)] : []),
    ];
    for (const slices of ways) {
      const server = await LoopbackServer.start(async (response) => {
        response.writeHead(200, { "content-type": ct });
        await writeSlices(response, slices);
      });
      const provider = new OpenAiCompletions({ http: pool });
      const message = await provider.stream(createRequest(local(server.url, "m")), {
        signal: new AbortController().signal,
      });
      expect(ours(message)).toEqual(ours(expected));
      expect(message.content).toEqual(expected.content);
      await server.stop();
    }
  });

  test.each(completionStreams.filter(isBroken))("$file: the error in mid-stream", async ({ bytes }) => {
    const theirs = await sdkCompletion(bytes).catch((error: unknown) => error);
    expect(theirs).toBeInstanceOf(OpenAI.APIError);
    for (const slices of [[bytes], sliceBytes(bytes), sliceRandomly(bytes, 9)]) {
      const error = await catchProviderError((async () => readAnswer(assemble, slices))());
      expect(error).toBeInstanceOf(ProviderError);
      expect(error.fault).toBe("api");
      expect(error.status).toBe(400);
      expect(error.vendorType).toBe((theirs as InstanceType<typeof OpenAI.APIError>).type);
      expect(error.message).toContain((theirs as Error).message);
    }
  });
});

// What the recordings may lack: streams that follow the vendor's types.
const chunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index, delta, finish_reason, logprobs: null }],
  usage: null,
});
const used = (prompt: number, completion: number, more: object = {}) => ({
  ...chunk({}),
  choices: [],
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more },
});
const callAt = (index: number, name: string | undefined, text: string) => ({
  tool_calls: [
    {
      index,
      ...(name !== undefined && { id: `call_${index}`, type: "function" }),
      function: { ...(name !== undefined && { name }), arguments: text },
    },
  ],
});
const role = chunk({ role: "assistant", content: "", refusal: null });

const BUILT: Record<string, readonly unknown[]> = {
  "a text in pieces": [
    role,
    chunk({ content: "Grü" }),
    chunk({ content: "ße 🌍" }),
    chunk({}, "stop"),
    used(7, 3),
  ],
  "a text that is said with its end": [role, chunk({ content: "Yes." }, "stop"), used(7, 3)],
  "calls in pieces, in turns, behind a text": [
    role,
    chunk({ content: "I look." }),
    chunk(callAt(0, "read", "")),
    chunk(callAt(1, "list", "")),
    chunk(callAt(0, undefined, '{"pa')),
    chunk(callAt(1, undefined, '{"deep":[[')),
    chunk(callAt(0, undefined, 'th":"ä🌍"}')),
    chunk(callAt(1, undefined, "1.5,null]]}")),
    chunk({}, "tool_calls"),
    used(20, 9),
  ],
  "a limit, and usage with its details": [
    role,
    chunk({ content: "half" }),
    chunk({}, "length"),
    used(1200, 90, {
      prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 64, audio_tokens: 0 },
    }),
  ],
  "a filter": [role, chunk({ content: "he" }), chunk({}, "content_filter"), used(7, 1)],
  nothing: [role, chunk({}, "stop"), used(7, 0)],
  "no usage": [role, chunk({ content: "So." }), chunk({}, "stop")],
};

describe("answers of chat completions that follow the vendor's types [PROV-13.2]", () => {
  test.each(Object.entries(BUILT))("%s: same as the SDK", async (_name, events) => {
    const bytes = encodeSse([...events, "[DONE]"], false);
    const expected = translated(await sdkCompletion(bytes));
    for (const slices of [[bytes], sliceBytes(bytes), sliceRandomly(bytes, 5, 40)])
      expect(ours(readAnswer(assemble, slices).message)).toEqual(expected);
  });
});
