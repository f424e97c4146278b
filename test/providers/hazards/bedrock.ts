import { bedrock } from "../../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../../src/models/bedrock-converse/bedrock-converse.ts";
import { encodeEvent, encodeException, rewriteFrame } from "../bedrock-stream.ts";
import { type AnswerContent, type HazardWire, SAMPLE_ANSWER, splitText } from "./wire.ts";

const delta = (contentBlockIndex: number, given: object) =>
  encodeEvent("contentBlockDelta", { contentBlockIndex, delta: given });
const stop = (contentBlockIndex: number) => encodeEvent("contentBlockStop", { contentBlockIndex });

/** Blocks, each as its frames. */
function blocks({ thinking, text, calls = [] }: AnswerContent): Uint8Array[][] {
  const made: ((index: number) => Uint8Array[])[] = [];
  if (thinking !== undefined)
    made.push((index) => [
      ...splitText(thinking).map((piece) => delta(index, { reasoningContent: { text: piece } })),
      delta(index, { reasoningContent: { signature: "c2ln" } }),
      stop(index),
    ]);
  if (text !== undefined)
    made.push((index) => [...splitText(text).map((piece) => delta(index, { text: piece })), stop(index)]);
  for (const { id, name, pieces } of calls)
    made.push((contentBlockIndex) => [
      encodeEvent("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } }),
      ...pieces.map((input) => delta(contentBlockIndex, { toolUse: { input } })),
      stop(contentBlockIndex),
    ]);
  return made.map((block, index) => block(index));
}

const start = encodeEvent("messageStart", { role: "assistant" });
const end = ({ calls = [] }: AnswerContent) =>
  encodeEvent("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" });
const metadata = encodeEvent("metadata", {
  usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 },
  metrics: { latencyMs: 5 },
});

function interleave(lists: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

export const bedrockHazards: HazardWire = {
  protocol: "bedrock_converse_stream",
  make: (http) => new BedrockConverse({ http }),
  model: (baseUrl) => bedrock("anthropic.claude-opus-4-6-v1", { baseUrl }),
  contentType: "application/vnd.amazon.eventstream",
  frames: (answer) => [start, ...blocks(answer).flat(), end(answer), metadata],
  optionalFrames: 1,
  rateLimit: encodeException("throttlingException", { message: "slow down" }),
  unknown: encodeEvent("brandNewEvent", { contentBlockIndex: 0, delta: { text: "no" } }),
  novel: (name) => [
    start,
    encodeEvent(name, { contentBlockIndex: 0 }),
    ...blocks({ text: "So." }).flat(),
    encodeEvent("messageStop", { stopReason: name }),
    metadata,
  ],
  isText: false,
  rewritten: rewriteFrame,
  rawArguments: true,
  same: {
    "blocks interleaved": [start, ...interleave(blocks(SAMPLE_ANSWER)), end(SAMPLE_ANSWER), metadata],
    "usage before the end": [start, ...blocks(SAMPLE_ANSWER).flat(), metadata, end(SAMPLE_ANSWER)],
    "usage at both ends": [
      start,
      encodeEvent("metadata", { usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } }),
      ...blocks(SAMPLE_ANSWER).flat(),
      end(SAMPLE_ANSWER),
      metadata,
    ],
    "without a beginning": [...blocks(SAMPLE_ANSWER).flat(), end(SAMPLE_ANSWER), metadata],
  },
};
