import { geminiObjection, signatureOf } from "./gemini-objection.ts";
import { geminiPrompt } from "./kept-prompt.ts";
import { argumentValue, DEFAULT_CHUNK_SIZE, opaque, pieces, stopOf, thinkingOf, usageOf } from "./pieces.ts";
import type { Question } from "./question.ts";
import type { Reply } from "./reply.ts";
import type { AnswerIds, VendorError, Wire, WireError } from "./wire.ts";

const STOP_WORDS: Readonly<Record<string, string>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  // Google has no word of its own for it.
  toolUse: "STOP",
};

const ERRORS: Record<VendorError, WireError> = {
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

/** Vertex knows tokens, which it refuses in another way. */
const TOKEN_REFUSED: WireError = {
  status: 401,
  type: "UNAUTHENTICATED",
  code: "ACCESS_TOKEN_TYPE_UNSUPPORTED",
  message:
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
};

type Part = Readonly<Record<string, unknown>>;

export const geminiWire: Wire = {
  frames(reply, question, ids) {
    const parts = partsOf(reply, ids, reply.chunkSize ?? DEFAULT_CHUNK_SIZE);
    return parts.map((part, at) => {
      const last = at === parts.length - 1;
      return `data: ${JSON.stringify(response(reply, question, ids, [part], last))}\r\n\r\n`;
    });
  },

  body: (reply, question, ids) =>
    JSON.stringify(response(reply, question, ids, partsOf(reply, ids, Number.MAX_SAFE_INTEGER), true)),

  headers: () => ({ vary: "Origin, X-Origin, Referer", "x-content-type-options": "nosniff" }),

  error: (kind, question) =>
    kind === "auth" && question?.protocol === "google_vertex" ? TOKEN_REFUSED : ERRORS[kind],

  errorBody: ({ status, type, code, message }) => JSON.stringify(errorObject(status, type, message, code)),

  errorFrame: (type = "UNAVAILABLE", message = ERRORS.overloaded.message) => {
    const { status } = Object.values(ERRORS).find((error) => error.type === type) ?? ERRORS.overloaded;
    return `data: ${JSON.stringify(errorObject(status, type, message))}\r\n\r\n`;
  },

  malformedFrame: () => 'data: {"candidates": [{"content": {"parts": [{"te\r\n\r\n',

  prompt: geminiPrompt,

  objection: (question) => {
    const message = geminiObjection(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

function errorObject(code: number, status: string, message: string, reason?: string | null) {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" };
  return { error: { code, message, status, ...(reason ? { details: [info] } : {}) } };
}

/** Thoughts, text and calls; the first call is signed, or else an empty text at the end. */
function partsOf(reply: Reply, ids: AnswerIds, size: number): Part[] {
  const thoughts = pieces(thinkingOf(reply)?.text ?? "", size).map((text) => ({ text, thought: true }));
  const texts = pieces(reply.text ?? "", size).map((text) => ({ text }));
  const calls = (reply.toolCalls ?? []).map(({ id, name, arguments: given }, index) => {
    const args = argumentValue(given);
    const functionCall = { ...(id !== undefined && { id }), name, args };
    return index > 0 ? { functionCall } : { functionCall, thoughtSignature: signatureOf(name, args) };
  });
  if (calls.length > 0) return [...thoughts, ...texts, ...calls];
  const thoughtSignature = thinkingOf(reply)?.signature ?? `Eg${opaque(`text ${ids.answer}`, 86)}`;
  return [...thoughts, ...texts, { text: "", thoughtSignature }];
}

function response(reply: Reply, question: Question, ids: AnswerIds, parts: readonly Part[], last: boolean) {
  const counts = usageOf(reply, question);
  const prompt = counts.input + counts.cacheRead + counts.cacheWrite;
  const stop = stopOf(reply);
  const finish = last ? { finishReason: STOP_WORDS[stop] ?? stop } : {};
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
    responseId: opaque(ids.answer, 23),
  };
}
