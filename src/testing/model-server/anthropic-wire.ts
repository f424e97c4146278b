import { validateAnthropicRequest } from "./anthropic-validation.ts";
import { buildAnthropicPrompt } from "./explicit-cache-prompt.ts";
import type { Reply } from "./reply.ts";
import {
  chunkText,
  computeUsage,
  createOpaqueText,
  DEFAULT_CHUNK_SIZE,
  formatArguments,
  getStop,
  getThinking,
  parseArguments,
} from "./reply-parts.ts";
import type { ModelServerRequest } from "./request.ts";
import type { AnswerIds, VendorErrorKind, Wire, WireError } from "./wire.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
};

const ERRORS: Record<VendorErrorKind, WireError> = {
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
  buildFrames(reply, question, ids) {
    const frames = [
      formatFrame("message_start", {
        message: { ...formatMessageHead(question, ids), content: [], ...formatStartUsage(reply, question) },
      }),
    ];
    buildBlocks(reply, ids).forEach((block, index) => {
      const { empty, deltas } = splitBlock(block, reply.chunkSize ?? DEFAULT_CHUNK_SIZE);
      frames.push(formatFrame("content_block_start", { index, content_block: empty }));
      if (index === 0) frames.push('event: ping\ndata: {"type": "ping"}\n\n');
      for (const delta of deltas) frames.push(formatFrame("content_block_delta", { index, delta }));
      frames.push(formatFrame("content_block_stop", { index }));
    });
    frames.push(
      formatFrame("message_delta", {
        delta: { stop_reason: toStopReason(reply), stop_sequence: null, stop_details: null },
        usage: formatUsage(reply, question),
      }),
      formatFrame("message_stop", {}),
    );
    return frames;
  },

  buildBody(reply, question, ids) {
    const { usage: start } = formatStartUsage(reply, question);
    return JSON.stringify({
      ...formatMessageHead(question, ids),
      content: buildBlocks(reply, ids),
      stop_reason: toStopReason(reply),
      usage: { ...start, ...formatUsage(reply, question) },
    });
  },

  buildHeaders: (answerId) => ({
    "request-id": createRequestId(answerId),
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
  }),

  buildError: (kind) => ERRORS[kind],

  formatErrorBody: (error, answerId) =>
    JSON.stringify({
      type: "error",
      error: { type: error.type, message: error.message },
      request_id: createRequestId(answerId),
    }),

  buildErrorFrame: (type = "overloaded_error", message = "Overloaded", answerId) =>
    formatFrame("error", { error: { type, message }, request_id: createRequestId(answerId) }),

  buildMalformedFrame: () =>
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_del\n\n',

  buildPrompt: buildAnthropicPrompt,

  validate: (question) => {
    const message = validateAnthropicRequest(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

function formatFrame(type: string, fields: Block): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function createRequestId(answerId: string): string {
  return `req_011C${createOpaqueText(`request ${answerId}`, 20)}`;
}

function formatMessageHead(question: ModelServerRequest, ids: AnswerIds) {
  return {
    model: question.model,
    id: `msg_01${createOpaqueText(ids.answer, 22)}`,
    type: "message",
    role: "assistant",
    content: [] as readonly Block[],
    stop_reason: null as string | null,
    stop_sequence: null,
    stop_details: null,
  };
}

function toStopReason(reply: Reply): string {
  const stop = getStop(reply);
  return STOP_REASONS[stop] ?? stop;
}

/** Builds the complete content blocks of an answer. */
function buildBlocks(reply: Reply, ids: AnswerIds): Block[] {
  const content: Block[] = [];
  const thinking = getThinking(reply);
  if (thinking?.redacted === true) {
    content.push({
      type: "redacted_thinking",
      data: thinking.signature ?? `Eqk${createOpaqueText(thinking.text, 120)}`,
    });
  } else if (thinking !== undefined) {
    const signature = thinking.signature ?? `Eus${createOpaqueText(thinking.text, 120)}`;
    content.push({ type: "thinking", thinking: thinking.text, signature });
  }
  if (reply.text !== undefined) content.push({ type: "text", text: reply.text });
  reply.toolCalls?.forEach((call, index) => {
    content.push({
      type: "tool_use",
      id: call.id ?? `toolu_01${createOpaqueText(`${ids.toolCallSeed} ${index}`, 22)}`,
      name: call.name,
      input: parseArguments(call.arguments),
      caller: { type: "direct" },
      [RAW]: formatArguments(call.arguments),
    });
  });
  return content;
}

/** The key of the script's original arguments; JSON.stringify ignores it. */
const RAW = Symbol("raw arguments");

/** A block as in its start event, and the deltas that fill it. */
function splitBlock(block: Block, size: number): { empty: Block; deltas: Block[] } {
  switch (block["type"]) {
    case "text":
      return {
        empty: { ...block, text: "" },
        deltas: chunkText(String(block["text"]), size).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        empty: { ...block, thinking: "", signature: "" },
        deltas: [
          ...chunkText(String(block["thinking"]), size).map((thinking) => ({
            type: "thinking_delta",
            thinking,
          })),
          { type: "signature_delta", signature: block["signature"] },
        ],
      };
    case "tool_use":
      return {
        empty: { ...block, input: {} },
        deltas: ["", ...chunkText(String((block as { [RAW]?: string })[RAW] ?? ""), size)].map(
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

function formatUsage(reply: Reply, question: ModelServerRequest) {
  const counts = computeUsage(reply, question);
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: counts.output,
    ...(counts.reasoning === 0 ? {} : { output_tokens_details: { thinking_tokens: counts.reasoning } }),
  };
}

function formatStartUsage(reply: Reply, question: ModelServerRequest) {
  const counts = computeUsage(reply, question);
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
