import { EventStreamCodec } from "../../platform/event-stream-codec.ts";
import { isSignedWith } from "./bedrock-signature.ts";
import { validateBedrockRequest } from "./bedrock-validation.ts";
import { buildBedrockPrompt } from "./explicit-cache-prompt.ts";
import type { PathParameters } from "./gemini-contents.ts";
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
    type: "ThrottlingException",
    message: "Too many requests, please wait before trying again.",
  },
  "server-error": {
    status: 500,
    type: "InternalServerException",
    message: "The system encountered an unexpected error during processing. Try your request again.",
  },
  overloaded: {
    status: 503,
    type: "ServiceUnavailableException",
    message: "Bedrock is unable to process your request.",
  },
  overflow: { status: 400, type: "ValidationException", message: "Input is too long for requested model." },
  auth: {
    status: 403,
    type: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
  },
  invalid: { status: 400, type: "ValidationException", message: "Malformed input request" },
};

type Fields = Readonly<Record<string, unknown>>;

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);

export const bedrockWire: Wire<Buffer> = {
  contentType: "application/vnd.amazon.eventstream",

  buildFrames(reply, question, ids) {
    const size = reply.chunkSize ?? DEFAULT_CHUNK_SIZE;
    const frames = [encodeEvent("messageStart", { role: "assistant" })];
    buildBlocks(reply, ids).forEach((block, contentBlockIndex) => {
      if (block.start !== undefined)
        frames.push(encodeEvent("contentBlockStart", { contentBlockIndex, start: block.start }));
      for (const delta of block.deltas(size))
        frames.push(encodeEvent("contentBlockDelta", { contentBlockIndex, delta }));
      frames.push(encodeEvent("contentBlockStop", { contentBlockIndex }));
    });
    frames.push(
      encodeEvent("messageStop", { stopReason: toStopReason(reply) }),
      encodeEvent("metadata", { usage: formatUsage(reply, question), metrics: { latencyMs: 1 } }),
    );
    return frames;
  },

  buildBody: (reply, question, ids) =>
    JSON.stringify({
      output: { message: { role: "assistant", content: buildBlocks(reply, ids).map(({ whole }) => whole) } },
      stopReason: toStopReason(reply),
      usage: formatUsage(reply, question),
      metrics: { latencyMs: 1 },
    }),

  buildHeaders: (answerId) => ({ "x-amzn-requestid": createRequestId(answerId) }),
  buildError: (kind) => ERRORS[kind],
  formatErrorBody: ({ message }) => JSON.stringify({ message }),
  buildErrorHeaders: ({ type }) => ({ "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/` }),
  isSignedWith,
  buildErrorFrame: (type = "throttlingException", message = ERRORS["rate-limited"].message) =>
    encodeFrame({ ":message-type": "exception", ":exception-type": type }, JSON.stringify({ message })),
  buildMalformedFrame: () =>
    encodeFrame(
      { ":message-type": "event", ":event-type": "contentBlockDelta" },
      '{"contentBlockIndex":0,"delta":{"te',
    ),

  buildPrompt: buildBedrockPrompt,

  validate: (question) => {
    const message = validateBedrockRequest(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

/** Parses the model and the form of the answer from the address. */
export function parseConversePath(path: string): PathParameters | undefined {
  const [, model, stream] = /^\/model\/([^/]+)\/converse(-stream)?$/.exec(path) ?? [];
  return model === undefined ? undefined : { model: decodeURIComponent(model), stream: stream !== undefined };
}

function encodeFrame(names: Readonly<Record<string, string>>, body: string): Buffer {
  const headers = { ...names, ":content-type": "application/json" };
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  const message = { headers: Object.fromEntries(typed), body: Buffer.from(body, "utf8") };
  return Buffer.from(codec.encode(message));
}

/** Amazon pads every event, so that its length reveals nothing about its text. */
function encodeEvent(type: string, body: Fields): Buffer {
  const p = "abcdefghijklmnopqrstuvwxyz".slice(0, 1 + (JSON.stringify(body).length % 26));
  return encodeFrame({ ":event-type": type, ":message-type": "event" }, JSON.stringify({ ...body, p }));
}

function createRequestId(answerId: string): string {
  const letters = Buffer.from(createOpaqueText(`request ${answerId}`, 16)).toString("hex");
  return letters.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5");
}

function toStopReason(reply: Reply): string {
  const stop = getStop(reply);
  return STOP_REASONS[stop] ?? stop;
}

type Block = {
  readonly start?: Fields;
  readonly deltas: (size: number) => readonly Fields[];
  readonly whole: Fields;
};

function buildBlocks(reply: Reply, ids: AnswerIds): readonly Block[] {
  const content: Block[] = [];
  const thinking = getThinking(reply);
  if (thinking?.redacted === true) {
    const redactedContent =
      thinking.signature ?? Buffer.from(createOpaqueText(thinking.text, 90)).toString("base64");
    const reasoningContent = { redactedContent };
    content.push({ deltas: () => [{ reasoningContent }], whole: { reasoningContent } });
  } else if (thinking !== undefined) {
    const { text, signature = `Eus${createOpaqueText(thinking.text, 120)}` } = thinking;
    content.push({
      deltas: (size) =>
        [...chunkText(text, size).map((piece) => ({ text: piece })), { signature }].map(
          (reasoningContent) => ({
            reasoningContent,
          }),
        ),
      whole: { reasoningContent: { reasoningText: { text, signature } } },
    });
  }
  const { text } = reply;
  if (text !== undefined)
    content.push({
      deltas: (size) => chunkText(text, size).map((piece) => ({ text: piece })),
      whole: { text },
    });
  reply.toolCalls?.forEach((call, index) => {
    const toolUseId = call.id ?? `tooluse_${createOpaqueText(`${ids.toolCallSeed} ${index}`, 22)}`;
    const { name } = call;
    content.push({
      start: { toolUse: { toolUseId, name } },
      deltas: (size) =>
        chunkText(formatArguments(call.arguments), size).map((input) => ({ toolUse: { input } })),
      whole: { toolUse: { toolUseId, name, input: parseArguments(call.arguments) } },
    });
  });
  return content;
}

function formatUsage(reply: Reply, question: ModelServerRequest): Fields {
  const { input, output, cacheRead, cacheWrite } = computeUsage(reply, question);
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output + cacheRead + cacheWrite,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
    serverToolUsage: {},
  };
}
