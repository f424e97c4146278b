import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { buildCompletionsPrompt } from "./implicit-cache-prompt.ts";
import { validateOpenAiRequest } from "./openai-validation.ts";
import type { Reply } from "./reply.ts";
import {
  chunkText,
  computeUsage,
  createOpaqueText,
  DEFAULT_CHUNK_SIZE,
  formatArguments,
  getStop,
  getThinking,
} from "./reply-parts.ts";
import type { ModelServerRequest } from "./request.ts";
import type { AnswerIds, VendorErrorKind, Wire, WireError } from "./wire.ts";

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
};

/** The vendor's own errors, the same in all of its protocols. */
export const OPENAI_ERRORS: Record<VendorErrorKind, WireError> = {
  "rate-limited": {
    status: 429,
    type: "tokens",
    code: "rate_limit_exceeded",
    message:
      "Rate limit reached for gpt-4o in organization org-holdfast on tokens per min (TPM): Limit 30000, Used 28039, Requested 3906. Please try again in 3.89s. Visit https://platform.openai.com/account/rate-limits to learn more.",
  },
  "server-error": {
    status: 500,
    type: "server_error",
    message: "The server had an error while processing your request. Sorry about that!",
  },
  overloaded: {
    status: 503,
    type: "server_error",
    message: "The engine is currently overloaded, please try again later",
  },
  overflow: {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    param: "messages",
    message:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
  },
  auth: {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message:
      "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
  },
  invalid: { status: 400, type: "invalid_request_error", message: "Invalid request" },
};

type Delta = Readonly<Record<string, unknown>>;

export const openaiWire: Wire<string> = {
  buildFrames(reply, question, ids) {
    const head = { ...buildIdentity(question, ids, "chat.completion.chunk") };
    const noUsage = question.includeUsage ? { usage: null } : {};
    const chunk = (delta: Delta, finish_reason: string | null) =>
      formatFrame(
        { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...noUsage },
        JSON.stringify(delta).length,
      );
    const frames = buildDeltas(reply, ids).map((delta) => chunk(delta, null));
    frames.push(chunk({}, toFinishReason(reply)));
    if (question.includeUsage)
      frames.push(formatFrame({ ...head, choices: [], usage: formatUsage(reply, question) }, 0));
    frames.push("data: [DONE]\n\n");
    return frames;
  },

  buildBody(reply, question, ids) {
    const thinking = getThinking(reply);
    const calls = buildToolCalls(reply, ids);
    const message = {
      role: "assistant",
      content: reply.text ?? null,
      ...omitUndefined({ reasoning_content: thinking?.text }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      refusal: null,
      annotations: [],
    };
    return JSON.stringify({
      ...buildIdentity(question, ids, "chat.completion"),
      choices: [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(reply) }],
      usage: formatUsage(reply, question),
    });
  },

  buildHeaders: buildOpenAiHeaders,

  buildError: (kind) => OPENAI_ERRORS[kind],

  formatErrorBody: (error) => JSON.stringify(buildOpenAiError(error.type, error.message, error)),

  buildErrorFrame: (type = "server_error", message = OPENAI_ERRORS["server-error"].message) =>
    `data: ${JSON.stringify(buildOpenAiError(type, message))}\n\n`,

  buildMalformedFrame: () =>
    'data: {"id":"chatcmpl-broken","object":"chat.completion.chunk","choices":[{"ind\n\n',

  buildPrompt: buildCompletionsPrompt,

  validate: (question) => {
    const objection = validateOpenAiRequest(question);
    return objection === undefined ? undefined : { ...OPENAI_ERRORS.invalid, ...objection };
  },
};

export function buildOpenAiHeaders(answerId: string): Record<string, string> {
  return {
    "x-request-id": createRequestId(answerId),
    "openai-organization": "holdfast",
    "openai-version": "2020-10-01",
    "openai-processing-ms": "1",
  };
}

/** Padding, as the vendor sends it to hide the lengths of its tokens. */
function formatFrame(chunk: Readonly<Record<string, unknown>>, length: number): string {
  const obfuscation = "3Y6yaTIPlXVg7efl".slice(length % 16);
  return `data: ${JSON.stringify({ ...chunk, obfuscation })}\n\n`;
}

export function buildOpenAiError(type: string, message: string, overrides: Partial<WireError> = {}) {
  return { error: { message, type, param: overrides.param ?? null, code: overrides.code ?? null } };
}

function createRequestId(answerId: string): string {
  return `req_${createOpaqueText(`request ${answerId}`, 32).toLowerCase()}`;
}

function buildIdentity(question: ModelServerRequest, ids: AnswerIds, object: string) {
  return {
    id: `chatcmpl-C${createOpaqueText(ids.answer, 28)}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: question.model,
    service_tier: getServiceTier(question),
    system_fingerprint: "fp_07871e2ad8",
  };
}

function getServiceTier({ body }: ModelServerRequest): string {
  const requested = body["service_tier"];
  return typeof requested === "string" && requested !== "auto" ? requested : "default";
}

function toFinishReason(reply: Reply): string {
  const stop = getStop(reply);
  return FINISH_REASONS[stop] ?? stop;
}

function buildToolCalls(reply: Reply, ids: AnswerIds) {
  return (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${createOpaqueText(`${ids.toolCallSeed} ${index}`, 24)}`,
    type: "function",
    function: { name: call.name, arguments: formatArguments(call.arguments) },
  }));
}

/** Writes reasoning as DeepSeek does; OpenAI itself exposes none in this protocol. */
function buildDeltas(reply: Reply, ids: AnswerIds): Delta[] {
  const size = reply.chunkSize ?? DEFAULT_CHUNK_SIZE;
  const thinking = getThinking(reply);
  const reasons = thinking !== undefined;
  const made: Delta[] = [
    reasons
      ? { role: "assistant", content: null, reasoning_content: "" }
      : reply.text === undefined
        ? { role: "assistant", content: null }
        : { role: "assistant", content: "", refusal: null },
  ];
  for (const piece of chunkText(thinking?.text ?? "", size)) {
    made.push({ content: null, reasoning_content: piece });
  }
  for (const piece of chunkText(reply.text ?? "", size)) {
    made.push(reasons ? { content: piece, reasoning_content: null } : { content: piece });
  }
  buildToolCalls(reply, ids).forEach((call, index) => {
    const { arguments: text } = call.function;
    made.push({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: "" } }] });
    for (const piece of chunkText(text, size)) {
      made.push({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  return made;
}

/** Implicit cache writes have no extra price, so the vendor does not report them separately. */
export function getReportedCacheWrite(reply: Reply): number {
  return reply.usage?.cacheWrite ?? 0;
}

function formatUsage(reply: Reply, question: ModelServerRequest) {
  const counts = computeUsage(reply, question);
  const cacheWrite = getReportedCacheWrite(reply);
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: counts.output,
    total_tokens: prompt + counts.output,
    prompt_tokens_details: {
      cached_tokens: counts.cacheRead,
      audio_tokens: 0,
      ...(cacheWrite === 0 ? {} : { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: counts.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
