import { anthropic } from "../../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../../src/models/anthropic-messages/provider.ts";
import { bytes, cutUp, type HazardWire, rewrittenText, SAID, type Said } from "./wire.ts";

const frame = (event: { readonly type: string }) =>
  bytes(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const start = (usage: object) =>
  frame({ type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage } } as {
    type: string;
  });
const begins = (index: number, content_block: object) =>
  frame({ type: "content_block_start", index, content_block } as { type: string });
const adds = (index: number, delta: object) =>
  frame({ type: "content_block_delta", index, delta } as { type: string });
const ends = (index: number) => frame({ type: "content_block_stop", index } as { type: string });

/** Blocks, each as the frames that make it. */
function blocks({ thinking, text, calls = [] }: Said): Uint8Array[][] {
  const made: ((index: number) => Uint8Array[])[] = [];
  if (thinking !== undefined)
    made.push((index) => [
      begins(index, { type: "thinking", thinking: "", signature: "" }),
      ...cutUp(thinking).map((piece) => adds(index, { type: "thinking_delta", thinking: piece })),
      adds(index, { type: "signature_delta", signature: "c2ln" }),
      ends(index),
    ]);
  if (text !== undefined)
    made.push((index) => [
      begins(index, { type: "text", text: "" }),
      ...cutUp(text).map((piece) => adds(index, { type: "text_delta", text: piece })),
      ends(index),
    ]);
  for (const { id, name, pieces } of calls)
    made.push((index) => [
      begins(index, { type: "tool_use", id, name, input: {} }),
      ...pieces.map((partial_json) => adds(index, { type: "input_json_delta", partial_json })),
      ends(index),
    ]);
  return made.map((block, index) => block(index));
}

function closing(said: Said, usage: object): Uint8Array[] {
  const stop_reason = (said.calls ?? []).length > 0 ? "tool_use" : "end_turn";
  return [
    frame({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage } as { type: string }),
    frame({ type: "message_stop" }),
  ];
}

const frames = (said: Said) => [
  start({ input_tokens: 5, output_tokens: 1 }),
  ...blocks(said).flat(),
  ...closing(said, { output_tokens: 3 }),
];

/** One frame of each block in turn, as far as each goes. */
function interleaved(lists: readonly (readonly Uint8Array[])[]): Uint8Array[] {
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
  rateLimit: frame({ type: "error", error: { type: "rate_limit_error", message: "slow down" } } as {
    type: string;
  }),
  unknown: frame({ type: "brand_new_event", index: 0, delta: { type: "text_delta", text: "no" } } as {
    type: string;
  }),
  novel: (name) => [
    start({ input_tokens: 5, output_tokens: 1 }),
    frame({ type: name }),
    ...blocks({ text: "So." }).flat(),
    frame({ type: "message_delta", delta: { stop_reason: name }, usage: { output_tokens: 3 } } as {
      type: string;
    }),
    frame({ type: "message_stop" }),
  ],
  ping: frame({ type: "ping" }),
  isText: true,
  rewritten: rewrittenText,
  rawArguments: true,
  same: {
    "blocks interleaved": [
      start({ input_tokens: 5, output_tokens: 1 }),
      ...interleaved(blocks(SAID)),
      ...closing(SAID, { output_tokens: 3 }),
    ],
    "all usage at the end": [
      start({}),
      ...blocks(SAID).flat(),
      ...closing(SAID, { input_tokens: 5, output_tokens: 3 }),
    ],
    "all usage at the beginning": [
      start({ input_tokens: 5, output_tokens: 3 }),
      ...blocks(SAID).flat(),
      ...closing(SAID, {}),
    ],
  },
};
