// The parts of the wire benchmark for each protocol: the bytes of an answer, and the vendor SDK's reader.
import { Readable } from "node:stream";
import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { anthropicWire } from "../dist/testing/model-server/anthropic-wire.js";
import { bedrockWire } from "../dist/testing/model-server/bedrock-wire.js";
import { geminiWire } from "../dist/testing/model-server/gemini-wire.js";
import { openaiWire } from "../dist/testing/model-server/openai-wire.js";
import { responsesWire } from "../dist/testing/model-server/responses-wire.js";

const STREAM = { "content-type": "text/event-stream" };
const messages = [{ role: "user", content: "x" }];

const createResponse = (slices) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const slice of slices) controller.enqueue(slice);
        controller.close();
      },
    }),
    { status: 200, headers: STREAM },
  );

/** Builds the frames of a scripted answer, as bytes. */
const encodeFrames = (wire) => (reply) => {
  const question = {
    model: "m",
    bytes: 100,
    includeUsage: true,
    stream: true,
    body: {},
    headers: {},
    path: "/",
  };
  const ids = { answer: "bench", toolCallSeed: "bench" };
  return Buffer.concat(wire.buildFrames(reply, question, ids).map((frame) => Buffer.from(frame)));
};

const readResponses = (slices) =>
  new OpenAI({ apiKey: "k", maxRetries: 0, fetch: async () => createResponse(slices) }).responses
    .stream({ model: "m", input: "x" })
    .finalResponse();

const readGemini = (options) => async (slices) => {
  const { models } = new GoogleGenAI({
    ...options,
    httpOptions: { fetch: async () => createResponse(slices) },
  });
  const parts = [];
  const stream = await models.generateContentStream({ model: "m", contents: "x" });
  for await (const chunk of stream) parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
  return parts;
};

const readConverse = async (slices) => {
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: { accessKeyId: "AKIABENCH", secretAccessKey: "s" },
    requestHandler: {
      handle: async () => ({ response: { statusCode: 200, headers, body: Readable.from(slices) } }),
    },
  });
  const asked = { modelId: "m", messages: [{ role: "user", content: [{ text: "x" }] }] };
  const { stream } = await client.send(new ConverseStreamCommand(asked));
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
};

/** A client with a given token, which makes no requests for one. */
const authorizedOptions = {
  authClient: { getRequestHeaders: async () => new Headers({ authorization: "Bearer t" }) },
};
const place = { project: "p", location: "l" };

/** The measured protocols. To add an adapter, add an entry; `read` returns the SDK's result for a whole answer. */
export const VENDORS = {
  anthropic_messages: {
    provider: "anthropic",
    bytes: encodeFrames(anthropicWire),
    read: (slices) =>
      new Anthropic({ apiKey: "k", maxRetries: 0, fetch: async () => createResponse(slices) }).messages
        .stream({ model: "m", max_tokens: 10, messages })
        .finalMessage(),
  },
  openai_completions: {
    provider: "openai",
    bytes: encodeFrames(openaiWire),
    read: (slices) =>
      new OpenAI({ apiKey: "k", maxRetries: 0, fetch: async () => createResponse(slices) }).chat.completions
        .stream({ model: "m", messages })
        .finalChatCompletion(),
  },
  openai_responses: { provider: "openai", bytes: encodeFrames(responsesWire), read: readResponses },
  azure_openai_responses: { provider: "azure", bytes: encodeFrames(responsesWire), read: readResponses },
  google_generative_ai: {
    provider: "google",
    bytes: encodeFrames(geminiWire),
    read: readGemini({ apiKey: "k", vertexai: false }),
  },
  google_vertex: {
    provider: "vertex",
    base: "/projects/p/locations/l",
    bytes: encodeFrames(geminiWire),
    read: readGemini({ ...place, vertexai: true, googleAuthOptions: authorizedOptions }),
  },
  bedrock_converse_stream: {
    provider: "bedrock",
    contentType: "application/vnd.amazon.eventstream",
    bytes: encodeFrames(bedrockWire),
    read: readConverse,
  },
};
