// What the wire benchmark needs of each protocol: the bytes of an answer, and the vendor's own reader of them.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { anthropicWire } from "../dist/testing/model-server/anthropic-wire.js";
import { openaiWire } from "../dist/testing/model-server/openai-wire.js";

const STREAM = { "content-type": "text/event-stream" };
const messages = [{ role: "user", content: "x" }];

const response = (slices) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const slice of slices) controller.enqueue(slice);
        controller.close();
      },
    }),
    { status: 200, headers: STREAM },
  );

/** The frames of a scripted answer, as bytes. */
const framesOf = (wire) => (reply) => {
  const question = { model: "m", bytes: 100, includeUsage: true, stream: true, body: {}, headers: {} };
  const ids = { answer: "bench", toolCallSeed: "bench" };
  return Buffer.concat(wire.frames(reply, question, ids).map((frame) => Buffer.from(frame)));
};

/** An adapter joins with an entry here; `read` gives what the SDK makes of a whole answer. */
export const VENDORS = {
  anthropic_messages: {
    provider: "anthropic",
    bytes: framesOf(anthropicWire),
    read: (slices) =>
      new Anthropic({ apiKey: "k", maxRetries: 0, fetch: async () => response(slices) }).messages
        .stream({ model: "m", max_tokens: 10, messages })
        .finalMessage(),
  },
  openai_completions: {
    provider: "openai",
    bytes: framesOf(openaiWire),
    read: (slices) =>
      new OpenAI({ apiKey: "k", maxRetries: 0, fetch: async () => response(slices) }).chat.completions
        .stream({ model: "m", messages })
        .finalChatCompletion(),
  },
};
