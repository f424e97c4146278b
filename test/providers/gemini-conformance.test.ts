import { afterAll, describe, expect, test } from "vitest";
import { google, vertex } from "../../src/config/vendor-models.ts";
import type { AnswerContext } from "../../src/models/assembler.ts";
import { GeminiAssembler } from "../../src/models/gemini/gemini-assembler.ts";
import { GoogleGenerativeAi } from "../../src/models/google-generative-ai/google-generative-ai.ts";
import { GoogleVertex } from "../../src/models/google-vertex/google-vertex.ts";
import type { AssistantMessage } from "../../src/schema/message.ts";
import { geminiStreams, hasMoreRecordings, NO_MORE_RECORDINGS } from "../support/recordings.ts";
import { testIf } from "../support/skipping.ts";
import {
  catchProviderError,
  createHttp,
  createRequest,
  encodeSse,
  joinDeltas,
  readAnswer,
} from "./answer-reader.ts";
import { joinParts, readSdkAnswer, toParts, type Vendor } from "./gemini-sdk.ts";
import { LoopbackServer, writeSlices } from "./loopback-server.ts";
import { sliceBytes, sliceRandomly } from "./slices.ts";

const assemble = (context: AnswerContext) => new GeminiAssembler(context, (call) => `google-fc-${call}`);
const pool = createHttp();
afterAll(async () => await pool.close());

const STOPS: Record<string, string> = { STOP: "stop", MAX_TOKENS: "length" };

/** The SDK's reading, in our types: its parts joined, its counters added up as its documentation specifies. */
async function expected(vendor: Vendor, bytes: Uint8Array) {
  const { parts, finish, usage, responseId } = await readSdkAnswer(vendor, bytes);
  const count = (name: string) => (usage[name] as number | undefined) ?? 0;
  const calls = parts.some((part) => part.functionCall !== undefined);
  const prompt = count("promptTokenCount") + count("toolUsePromptTokenCount");
  return {
    parts: joinParts(parts),
    stopReason: calls && finish === "STOP" ? "toolUse" : STOPS[finish ?? ""],
    usage: {
      input: prompt - count("cachedContentTokenCount"),
      output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
      reasoning: count("thoughtsTokenCount"),
      cacheRead: count("cachedContentTokenCount"),
      cacheWrite: 0,
      totalTokens: count("totalTokenCount"),
    },
    responseId,
  };
}

function ours(message: AssistantMessage) {
  const { stopReason, usage, responseId } = message;
  return { parts: toParts(message), stopReason, usage, responseId };
}

function expectDeltasToAddUp(bytes: Uint8Array): void {
  const { message, deltas } = readAnswer(assemble, [bytes]);
  const blocks = joinDeltas(deltas);
  for (const [index, part] of message.content.entries()) {
    if (part.type === "text" && part.text !== "") expect(blocks[index]).toBe(`text:${part.text}`);
    if (part.type === "thinking" && part.thinking !== "")
      expect(blocks[index]).toBe(`thinking:${part.thinking}`);
    if (part.type === "toolCall")
      expect(JSON.parse(blocks[index]!.slice("toolCall:".length))).toEqual(part.arguments);
  }
}

const vendorOf = (host: string): Vendor => (host.startsWith("aiplatform") ? "vertex" : "google");

function ask(vendor: Vendor, url: string): Promise<AssistantMessage> {
  const options = { signal: new AbortController().signal };
  if (vendor === "google") {
    const request = createRequest(google("gemini-3-flash-preview", { baseUrl: url }));
    return new GoogleGenerativeAi({ http: pool }).stream(request, options);
  }
  const request = createRequest(
    vertex("gemini-3-flash-preview", { baseUrl: `${url}/v1/projects/p/locations/global` }),
  );
  return new GoogleVertex({ http: pool }).stream(request, options);
}

describe("recorded replies of Gemini and Vertex", () => {
  testIf(hasMoreRecordings, NO_MORE_RECORDINGS)("there are many", () => {
    expect(geminiStreams.length).toBeGreaterThanOrEqual(8);
  });

  test.each(geminiStreams)(
    "$file: same as the SDK, in slices of every size [PROV-21.1, PROV-21.3]",
    async ({ bytes, host }) => {
      const theirs = await expected(vendorOf(host), bytes);
      expect(ours(readAnswer(assemble, [bytes]).message)).toEqual(theirs);
      expect(ours(readAnswer(assemble, sliceBytes(bytes)).message)).toEqual(theirs);
      for (let seed = 1; seed <= 8; seed += 1) {
        expect(ours(readAnswer(assemble, sliceRandomly(bytes, seed)).message)).toEqual(theirs);
      }
      expectDeltasToAddUp(bytes);
    },
  );

  test.each(geminiStreams)("$file: same over HTTP [PROV-22.4]", async ({ bytes, ct, host }) => {
    const vendor = vendorOf(host);
    const theirs = await expected(vendor, bytes);
    const ways = [
      [bytes],
      sliceRandomly(bytes, 3, 2000),
      ...(bytes.length < 8000 ? [sliceBytes(bytes)] : []),
    ];
    for (const slices of ways) {
      const server = await LoopbackServer.start(async (response) => {
        response.writeHead(200, { "content-type": ct });
        await writeSlices(response, slices);
      });
      expect(ours(await ask(vendor, server.url))).toEqual(theirs);
      await server.stop();
    }
  });

  test.each(geminiStreams)("$file: cut off before its stop reason, it is broken", async ({ bytes, host }) => {
    // Some models state a reason in every chunk; the first one is an end for us.
    const end = bytes.indexOf("finishReason");
    const event = bytes.lastIndexOf("data:", end);
    for (let seed = 1; seed <= 6; seed += 1) {
      const at = Math.floor((event * seed) / 6);
      const server = await LoopbackServer.start((response) =>
        response.writeHead(200, { "content-type": "text/event-stream" }).end(bytes.subarray(0, at)),
      );
      expect(await catchProviderError(ask(vendorOf(host), server.url))).toMatchObject({ fault: "network" });
      await server.stop();
    }
  });
});

// What the recordings do not contain, following the vendor's types.
const piece = (parts: object[], more: object = {}, rest: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  responseId: "r1",
  ...rest,
});
const STOP = { finishReason: "STOP" };
const USAGE = {
  usageMetadata: {
    promptTokenCount: 50,
    cachedContentTokenCount: 30,
    candidatesTokenCount: 7,
    thoughtsTokenCount: 5,
    totalTokenCount: 62,
  },
};
const call = (name: string, args: object, more: object = {}) => ({ functionCall: { name, args, ...more } });

const BUILT: Record<string, readonly unknown[]> = {
  "thoughts, text and two calls at once": [
    piece([{ text: "Let me ", thought: true }]),
    piece([{ text: "think.", thought: true, thoughtSignature: "c2ln" }, { text: "I look " }]),
    piece([{ text: "at both 🌍." }, { ...call("read", { path: "ä" }), thoughtSignature: "c2lnMg==" }]),
    piece([call("list", { deep: [1, { two: null }] }, { id: "c9" })], STOP, USAGE),
  ],
  "a signed piece stays by itself": [
    piece([{ text: "one" }]),
    piece([{ text: " two", thoughtSignature: "c2ln" }]),
    piece([{ text: " three" }]),
    piece([{ text: "", thoughtSignature: "ZW5k" }], STOP, USAGE),
  ],
  "code that the vendor ran": [
    piece([{ executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "c2ln" }]),
    piece([{ codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }, { text: "1" }], STOP, USAGE),
  ],
  "a file and an image of the vendor's": [
    piece([{ fileData: { mimeType: "text/plain", fileUri: "gs://b/f" } }]),
    piece(
      [{ inlineData: { mimeType: "image/png", data: "iVBORw==" }, thoughtSignature: "c2ln" }],
      STOP,
      USAGE,
    ),
  ],
  "a call without arguments": [piece([{ functionCall: { name: "now", args: {} } }], STOP, USAGE)],
  "out of tokens": [piece([{ text: "half" }], { finishReason: "MAX_TOKENS" }, USAGE)],
  "usage in the first piece and none in the last": [
    piece([{ text: "a" }], {}, USAGE),
    piece([{ text: "b" }], STOP),
  ],
  "usage behind the end": [piece([{ text: "a" }], STOP), { ...USAGE, responseId: "r1" }],
  "nothing at all": [piece([], STOP, USAGE)],
};

describe("answers that follow the vendor's types", () => {
  test.each(Object.entries(BUILT))("%s: same as the SDK [PROV-21.1, PROV-21.3]", async (_name, events) => {
    const bytes = encodeSse(events, false);
    for (const vendor of ["google", "vertex"] as const) {
      const theirs = await expected(vendor, bytes);
      for (const slices of [[bytes], sliceBytes(bytes), sliceRandomly(bytes, 5, 40)]) {
        expect(ours(readAnswer(assemble, slices).message)).toEqual(theirs);
      }
    }
    expectDeltasToAddUp(bytes);
  });
});
