import { anthropic } from "../../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../../src/models/anthropic-messages/anthropic-messages.ts";
import {
  type AnswerContent,
  encodeText,
  type HazardWire,
  rewriteText,
  SAMPLE_ANSWER,
  splitText,
} from "./wire.ts";

const encodeFrame = (event: { readonly type: string }) =>
  encodeText(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const createStart = (usage: object) =>
  encodeFrame({ type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage } } as {
    type: string;
  });
const createBlockStart = (index: number, content_block: object) =>
  encodeFrame({ type: "content_block_start", index, content_block } as { type: string });
const createBlockDelta = (index: number, delta: object) =>
  encodeFrame({ type: "content_block_delta", index, delta } as { type: string });
const createBlockStop = (index: number) =>
  encodeFrame({ type: "content_block_stop", index } as { type: string });

/** Blocks, each as its frames. */
function blocks({ thinking, text, calls = [] }: AnswerContent): Uint8Array[][] {
  const made: ((index: number) => Uint8Array[])[] = [];
  if (thinking !== undefined)
    made.push((index) => [
      createBlockStart(index, { type: "thinking", thinking: "", signature: "" }),
      ...splitText(thinking).map((piece) =>
        createBlockDelta(index, { type: "thinking_delta", thinking: piece }),
      ),
      createBlockDelta(index, { type: "signature_delta", signature: "c2ln" }),
      createBlockStop(index),
    ]);
  if (text !== undefined)
    made.push((index) => [
      createBlockStart(index, { type: "text", text: "" }),
      ...splitText(text).map((piece) => createBlockDelta(index, { type: "text_delta", text: piece })),
      createBlockStop(index),
    ]);
  for (const { id, name, pieces } of calls)
    made.push((index) => [
      createBlockStart(index, { type: "tool_use", id, name, input: {} }),
      ...pieces.map((partial_json) => createBlockDelta(index, { type: "input_json_delta", partial_json })),
      createBlockStop(index),
    ]);
  return made.map((block, index) => block(index));
}

function createEnd(answer: AnswerContent, usage: object): Uint8Array[] {
  const stop_reason = (answer.calls ?? []).length > 0 ? "tool_use" : "end_turn";
  return [
    encodeFrame({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage } as {
      type: string;
    }),
    encodeFrame({ type: "message_stop" }),
  ];
}

const frames = (answer: AnswerContent) => [
  createStart({ input_tokens: 5, output_tokens: 1 }),
  ...blocks(answer).flat(),
  ...createEnd(answer, { output_tokens: 3 }),
];

/** One frame of each block in turn, until all blocks are complete. */
function interleave(lists: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

export const anthropicHazards: HazardWire = {
  protocol: "anthropic_messages",
  make: (http) => new AnthropicMessages({ http }),
  model: (baseUrl) => anthropic("claude-x", { baseUrl }),
  contentType: "text/event-stream; charset=utf-8",
  frames,
  optionalFrames: 0,
  rateLimit: encodeFrame({ type: "error", error: { type: "rate_limit_error", message: "slow down" } } as {
    type: string;
  }),
  unknown: encodeFrame({ type: "brand_new_event", index: 0, delta: { type: "text_delta", text: "no" } } as {
    type: string;
  }),
  novel: (name) => [
    createStart({ input_tokens: 5, output_tokens: 1 }),
    encodeFrame({ type: name }),
    ...blocks({ text: "So." }).flat(),
    encodeFrame({ type: "message_delta", delta: { stop_reason: name }, usage: { output_tokens: 3 } } as {
      type: string;
    }),
    encodeFrame({ type: "message_stop" }),
  ],
  ping: encodeFrame({ type: "ping" }),
  isText: true,
  rewritten: rewriteText,
  rawArguments: true,
  same: {
    "blocks interleaved": [
      createStart({ input_tokens: 5, output_tokens: 1 }),
      ...interleave(blocks(SAMPLE_ANSWER)),
      ...createEnd(SAMPLE_ANSWER, { output_tokens: 3 }),
    ],
    "all usage at the end": [
      createStart({}),
      ...blocks(SAMPLE_ANSWER).flat(),
      ...createEnd(SAMPLE_ANSWER, { input_tokens: 5, output_tokens: 3 }),
    ],
    "all usage at the beginning": [
      createStart({ input_tokens: 5, output_tokens: 3 }),
      ...blocks(SAMPLE_ANSWER).flat(),
      ...createEnd(SAMPLE_ANSWER, {}),
    ],
  },
};
