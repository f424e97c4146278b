import { bedrock } from "../../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../../src/models/bedrock-converse/provider.ts";
import { eventFrame, exceptionFrame, rewrittenFrame } from "../bedrock-play.ts";
import { cutUp, type HazardWire, SAID, type Said } from "./wire.ts";

const delta = (contentBlockIndex: number, given: object) =>
  eventFrame("contentBlockDelta", { contentBlockIndex, delta: given });
const stop = (contentBlockIndex: number) => eventFrame("contentBlockStop", { contentBlockIndex });

/** Blocks, each as the frames that make it. */
function blocks({ thinking, text, calls = [] }: Said): Uint8Array[][] {
  const made: ((index: number) => Uint8Array[])[] = [];
  if (thinking !== undefined)
    made.push((index) => [
      ...cutUp(thinking).map((piece) => delta(index, { reasoningContent: { text: piece } })),
      delta(index, { reasoningContent: { signature: "c2ln" } }),
      stop(index),
    ]);
  if (text !== undefined)
    made.push((index) => [...cutUp(text).map((piece) => delta(index, { text: piece })), stop(index)]);
  for (const { id, name, pieces } of calls)
    made.push((contentBlockIndex) => [
      eventFrame("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } }),
      ...pieces.map((input) => delta(contentBlockIndex, { toolUse: { input } })),
      stop(contentBlockIndex),
    ]);
  return made.map((block, index) => block(index));
}

const start = eventFrame("messageStart", { role: "assistant" });
const end = ({ calls = [] }: Said) =>
  eventFrame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" });
const metadata = eventFrame("metadata", {
  usage: { inputTokens: 5, outputTokens: 3, totalTokens: 8 },
  metrics: { latencyMs: 5 },
});

function interleaved(lists: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

export const bedrockHazards: HazardWire = {
  protocol: "bedrock_converse_stream",
  make: (http) => new BedrockConverse({ http }),
  model: (baseUrl) => bedrock("anthropic.claude-opus-4-6-v1", { baseUrl }),
  contentType: "application/vnd.amazon.eventstream",
  frames: (said) => [start, ...blocks(said).flat(), end(said), metadata],
  optionalFrames: 1,
  rateLimit: exceptionFrame("throttlingException", { message: "slow down" }),
  unknown: eventFrame("brandNewEvent", { contentBlockIndex: 0, delta: { text: "no" } }),
  novel: (name) => [
    start,
    eventFrame(name, { contentBlockIndex: 0 }),
    ...blocks({ text: "So." }).flat(),
    eventFrame("messageStop", { stopReason: name }),
    metadata,
  ],
  isText: false,
  rewritten: rewrittenFrame,
  rawArguments: true,
  same: {
    "blocks interleaved": [start, ...interleaved(blocks(SAID)), end(SAID), metadata],
    "usage before the end": [start, ...blocks(SAID).flat(), metadata, end(SAID)],
    "usage at both ends": [
      start,
      eventFrame("metadata", { usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } }),
      ...blocks(SAID).flat(),
      end(SAID),
      metadata,
    ],
    "without a beginning": [...blocks(SAID).flat(), end(SAID), metadata],
  },
};
