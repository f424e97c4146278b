import { computeSignature, validateGeminiRequest } from "./gemini-validation.ts";
import { buildGeminiPrompt } from "./implicit-cache-prompt.ts";
import type { Reply } from "./reply.ts";
import {
  chunkText,
  computeUsage,
  createOpaqueText,
  DEFAULT_CHUNK_SIZE,
  getStop,
  getThinking,
  parseArguments,
} from "./reply-parts.ts";
import type { ModelServerRequest } from "./request.ts";
import type { AnswerIds, VendorErrorKind, Wire, WireError } from "./wire.ts";

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  // Google has no separate error type for this.
  toolUse: "STOP",
};

const ERRORS: Record<VendorErrorKind, WireError> = {
  "rate-limited": {
    status: 429,
    type: "RESOURCE_EXHAUSTED",
    message:
      "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
  },
  "server-error": {
    status: 500,
    type: "INTERNAL",
    message:
      "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
  },
  overloaded: {
    status: 503,
    type: "UNAVAILABLE",
    message: "The model is overloaded. Please try again later.",
  },
  overflow: {
    status: 400,
    type: "INVALID_ARGUMENT",
    message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
  },
  auth: {
    status: 400,
    type: "INVALID_ARGUMENT",
    code: "API_KEY_INVALID",
    message: "API key not valid. Please pass a valid API key.",
  },
  invalid: { status: 400, type: "INVALID_ARGUMENT", message: "Request contains an invalid argument." },
};

/** Vertex uses tokens, and rejects them with a different error. */
const INVALID_TOKEN: WireError = {
  status: 401,
  type: "UNAUTHENTICATED",
  code: "ACCESS_TOKEN_TYPE_UNSUPPORTED",
  message:
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
};

type Part = Readonly<Record<string, unknown>>;

export const geminiWire: Wire = {
  buildFrames(reply, question, ids) {
    const parts = buildParts(reply, ids, reply.chunkSize ?? DEFAULT_CHUNK_SIZE);
    return parts.map((part, at) => {
      const last = at === parts.length - 1;
      return `data: ${JSON.stringify(buildResponse(reply, question, ids, [part], last))}\r\n\r\n`;
    });
  },

  buildBody: (reply, question, ids) =>
    JSON.stringify(
      buildResponse(reply, question, ids, buildParts(reply, ids, Number.MAX_SAFE_INTEGER), true),
    ),

  buildHeaders: () => ({ vary: "Origin, X-Origin, Referer", "x-content-type-options": "nosniff" }),

  buildError: (kind, question) =>
    kind === "auth" && question?.protocol === "google_vertex" ? INVALID_TOKEN : ERRORS[kind],

  formatErrorBody: ({ status, type, code, message }) =>
    JSON.stringify(buildErrorObject(status, type, message, code)),

  buildErrorFrame: (type = "UNAVAILABLE", message = ERRORS.overloaded.message) => {
    const { status } = Object.values(ERRORS).find((error) => error.type === type) ?? ERRORS.overloaded;
    return `data: ${JSON.stringify(buildErrorObject(status, type, message))}\r\n\r\n`;
  },

  buildMalformedFrame: () => 'data: {"candidates": [{"content": {"parts": [{"te\r\n\r\n',

  buildPrompt: buildGeminiPrompt,

  validate: (question) => {
    const message = validateGeminiRequest(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

function buildErrorObject(code: number, status: string, message: string, reason?: string | null) {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" };
  return { error: { code, message, status, ...(reason ? { details: [info] } : {}) } };
}

/** Builds thoughts, text and calls. The first call has the signature, or else an empty text at the end has it. */
function buildParts(reply: Reply, ids: AnswerIds, size: number): Part[] {
  const thoughts = chunkText(getThinking(reply)?.text ?? "", size).map((text) => ({ text, thought: true }));
  const texts = chunkText(reply.text ?? "", size).map((text) => ({ text }));
  const calls = (reply.toolCalls ?? []).map(({ id, name, arguments: given }, index) => {
    const args = parseArguments(given);
    const functionCall = { ...(id !== undefined && { id }), name, args };
    return index > 0 ? { functionCall } : { functionCall, thoughtSignature: computeSignature(name, args) };
  });
  if (calls.length > 0) return [...thoughts, ...texts, ...calls];
  const thoughtSignature = getThinking(reply)?.signature ?? `Eg${createOpaqueText(`text ${ids.answer}`, 86)}`;
  return [...thoughts, ...texts, { text: "", thoughtSignature }];
}

function buildResponse(
  reply: Reply,
  question: ModelServerRequest,
  ids: AnswerIds,
  parts: readonly Part[],
  last: boolean,
) {
  const counts = computeUsage(reply, question);
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite;
  const stop = getStop(reply);
  const finish = last ? { finishReason: FINISH_REASONS[stop] ?? stop } : {};
  const usage = {
    promptTokenCount: prompt,
    ...(last && { candidatesTokenCount: counts.output - counts.reasoning }),
    totalTokenCount: last ? prompt + counts.output : prompt,
    ...(counts.cacheRead > 0 && { cachedContentTokenCount: counts.cacheRead }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(last && counts.reasoning > 0 && { thoughtsTokenCount: counts.reasoning }),
    ...(question.protocol === "google_vertex" ? { trafficType: "ON_DEMAND" } : { serviceTier: "standard" }),
  };
  return {
    candidates: [{ content: { parts, role: "model" }, ...finish, index: 0 }],
    usageMetadata: usage,
    modelVersion: question.model,
    responseId: createOpaqueText(ids.answer, 23),
  };
}
