import { anthropicObjection } from "./anthropic-objection.ts";
import { anthropicPrompt } from "./claude-prompt.ts";
import {
  argumentText,
  argumentValue,
  DEFAULT_CHUNK_SIZE,
  opaque,
  pieces,
  stopOf,
  thinkingOf,
  usageOf,
} from "./pieces.ts";
import type { Question } from "./question.ts";
import type { Reply } from "./reply.ts";
import type { AnswerIds, VendorError, Wire, WireError } from "./wire.ts";

const STOP_WORDS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
};

const ERRORS: Record<VendorError, WireError> = {
  "rate-limited": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your account's rate limit. Please try again later.",
  },
  "server-error": { status: 500, type: "api_error", message: "Internal server error" },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  overflow: {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 211180 tokens > 200000 maximum",
  },
  auth: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  invalid: { status: 400, type: "invalid_request_error", message: "Invalid request" },
};

type Block = Readonly<Record<string, unknown>>;

export const anthropicWire: Wire<string> = {
  frames(reply, question, ids) {
    const frames = [
      frame("message_start", {
        message: { ...head(question, ids), content: [], ...usageAtStart(reply, question) },
      }),
    ];
    blocks(reply, ids).forEach((block, index) => {
      const { empty, deltas } = streamed(block, reply.chunkSize ?? DEFAULT_CHUNK_SIZE);
      frames.push(frame("content_block_start", { index, content_block: empty }));
      if (index === 0) frames.push('event: ping\ndata: {"type": "ping"}\n\n');
      for (const delta of deltas) frames.push(frame("content_block_delta", { index, delta }));
      frames.push(frame("content_block_stop", { index }));
    });
    frames.push(
      frame("message_delta", {
        delta: { stop_reason: stopReason(reply), stop_sequence: null, stop_details: null },
        usage: usage(reply, question),
      }),
      frame("message_stop", {}),
    );
    return frames;
  },

  body(reply, question, ids) {
    const { usage: start } = usageAtStart(reply, question);
    return JSON.stringify({
      ...head(question, ids),
      content: blocks(reply, ids),
      stop_reason: stopReason(reply),
      usage: { ...start, ...usage(reply, question) },
    });
  },

  headers: (answerId) => ({
    "request-id": requestId(answerId),
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
  }),

  error: (kind) => ERRORS[kind],

  errorBody: (error, answerId) =>
    JSON.stringify({
      type: "error",
      error: { type: error.type, message: error.message },
      request_id: requestId(answerId),
    }),

  errorFrame: (type = "overloaded_error", message = "Overloaded", answerId) =>
    frame("error", { error: { type, message }, request_id: requestId(answerId) }),

  malformedFrame: () =>
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_del\n\n',

  prompt: anthropicPrompt,

  objection: (question) => {
    const message = anthropicObjection(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

function frame(type: string, rest: Block): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
}

function requestId(answerId: string): string {
  return `req_011C${opaque(`request ${answerId}`, 20)}`;
}

function head(question: Question, ids: AnswerIds) {
  return {
    model: question.model,
    id: `msg_01${opaque(ids.answer, 22)}`,
    type: "message",
    role: "assistant",
    content: [] as readonly Block[],
    stop_reason: null as string | null,
    stop_sequence: null,
    stop_details: null,
  };
}

function stopReason(reply: Reply): string {
  const stop = stopOf(reply);
  return STOP_WORDS[stop] ?? stop;
}

/** The complete content blocks of an answer. */
function blocks(reply: Reply, ids: AnswerIds): Block[] {
  const content: Block[] = [];
  const thinking = thinkingOf(reply);
  if (thinking?.redacted === true) {
    content.push({
      type: "redacted_thinking",
      data: thinking.signature ?? `Eqk${opaque(thinking.text, 120)}`,
    });
  } else if (thinking !== undefined) {
    const signature = thinking.signature ?? `Eus${opaque(thinking.text, 120)}`;
    content.push({ type: "thinking", thinking: thinking.text, signature });
  }
  if (reply.text !== undefined) content.push({ type: "text", text: reply.text });
  reply.toolCalls?.forEach((call, index) => {
    content.push({
      type: "tool_use",
      id: call.id ?? `toolu_01${opaque(`${ids.toolCallSeed} ${index}`, 22)}`,
      name: call.name,
      input: argumentValue(call.arguments),
      caller: { type: "direct" },
      [RAW]: argumentText(call.arguments),
    });
  });
  return content;
}

/** The arguments as the script has them; JSON.stringify does not see it. */
const RAW = Symbol("raw arguments");

/** A block as its start event shows it, and the deltas that fill it. */
function streamed(block: Block, size: number): { empty: Block; deltas: Block[] } {
  switch (block["type"]) {
    case "text":
      return {
        empty: { ...block, text: "" },
        deltas: pieces(String(block["text"]), size).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        empty: { ...block, thinking: "", signature: "" },
        deltas: [
          ...pieces(String(block["thinking"]), size).map((thinking) => ({
            type: "thinking_delta",
            thinking,
          })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      };
    case "tool_use":
      return {
        empty: { ...block, input: {} },
        deltas: ["", ...pieces(String((block as { [RAW]?: string })[RAW] ?? ""), size)].map(
          (partial_json) => ({
            type: "input_json_delta",
            partial_json,
          }),
        ),
      };
    default:
      return { empty: block, deltas: [] };
  }
}

function usage(reply: Reply, question: Question) {
  const counts = usageOf(reply, question);
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: counts.output,
    ...(counts.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: counts.reasoning } }),
  };
}

function usageAtStart(reply: Reply, question: Question) {
  const counts = usageOf(reply, question);
  return {
    usage: {
      input_tokens: counts.input,
      cache_creation_input_tokens: counts.cacheWrite,
      cache_read_input_tokens: counts.cacheRead,
      cache_creation: { ephemeral_5m_input_tokens: counts.cacheWrite, ephemeral_1h_input_tokens: 0 },
      output_tokens: 1,
      service_tier: "standard",
      inference_geo: "not_available",
    },
  };
}
