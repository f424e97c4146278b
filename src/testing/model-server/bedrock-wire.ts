import { EventStreamCodec } from "@smithy/eventstream-codec";
import { bedrockObjection } from "./bedrock-objection.ts";
import { provesKey } from "./bedrock-proof.ts";
import { bedrockPrompt } from "./claude-prompt.ts";
import type { NamedInPath } from "./gemini-contents.ts";
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

  frames(reply, question, ids) {
    const size = reply.chunkSize ?? DEFAULT_CHUNK_SIZE;
    const frames = [event("messageStart", { role: "assistant" })];
    blocks(reply, ids).forEach((block, contentBlockIndex) => {
      if (block.start !== undefined)
        frames.push(event("contentBlockStart", { contentBlockIndex, start: block.start }));
      for (const delta of block.deltas(size))
        frames.push(event("contentBlockDelta", { contentBlockIndex, delta }));
      frames.push(event("contentBlockStop", { contentBlockIndex }));
    });
    frames.push(
      event("messageStop", { stopReason: stopReason(reply) }),
      event("metadata", { usage: usage(reply, question), metrics: { latencyMs: 1 } }),
    );
    return frames;
  },

  body: (reply, question, ids) =>
    JSON.stringify({
      output: { message: { role: "assistant", content: blocks(reply, ids).map(({ whole }) => whole) } },
      stopReason: stopReason(reply),
      usage: usage(reply, question),
      metrics: { latencyMs: 1 },
    }),

  headers: (answerId) => ({ "x-amzn-requestid": requestId(answerId) }),
  error: (kind) => ERRORS[kind],
  errorBody: ({ message }) => JSON.stringify({ message }),
  errorHeaders: ({ type }) => ({ "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/` }),
  proves: provesKey,
  errorFrame: (type = "throttlingException", message = ERRORS["rate-limited"].message) =>
    frame({ ":message-type": "exception", ":exception-type": type }, JSON.stringify({ message })),
  malformedFrame: () =>
    frame(
      { ":message-type": "event", ":event-type": "contentBlockDelta" },
      '{"contentBlockIndex":0,"delta":{"te',
    ),

  prompt: bedrockPrompt,

  objection: (question) => {
    const message = bedrockObjection(question);
    return message === undefined ? undefined : { ...ERRORS.invalid, message };
  },
};

/** The model and the form of the answer stand in the address. */
export function namedInConverse(path: string): NamedInPath | undefined {
  const [, model, stream] = /^\/model\/([^/]+)\/converse(-stream)?$/.exec(path) ?? [];
  return model === undefined ? undefined : { model: decodeURIComponent(model), stream: stream !== undefined };
}

function frame(names: Readonly<Record<string, string>>, body: string): Buffer {
  const headers = { ...names, ":content-type": "application/json" };
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: "string" as const, value }]);
  const message = { headers: Object.fromEntries(typed), body: Buffer.from(body, "utf8") };
  return Buffer.from(codec.encode(message));
}

/** Amazon pads every event, so that its length says nothing about the words in it. */
function event(type: string, body: Fields): Buffer {
  const p = "abcdefghijklmnopqrstuvwxyz".slice(0, 1 + (JSON.stringify(body).length % 26));
  return frame({ ":event-type": type, ":message-type": "event" }, JSON.stringify({ ...body, p }));
}

function requestId(answerId: string): string {
  const letters = Buffer.from(opaque(`request ${answerId}`, 16)).toString("hex");
  return letters.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, "$1-$2-$3-$4-$5");
}

function stopReason(reply: Reply): string {
  const stop = stopOf(reply);
  return STOP_WORDS[stop] ?? stop;
}

type Block = {
  readonly start?: Fields;
  readonly deltas: (size: number) => readonly Fields[];
  readonly whole: Fields;
};

function blocks(reply: Reply, ids: AnswerIds): readonly Block[] {
  const content: Block[] = [];
  const thinking = thinkingOf(reply);
  if (thinking?.redacted === true) {
    const redactedContent = thinking.signature ?? Buffer.from(opaque(thinking.text, 90)).toString("base64");
    const reasoningContent = { redactedContent };
    content.push({ deltas: () => [{ reasoningContent }], whole: { reasoningContent } });
  } else if (thinking !== undefined) {
    const { text, signature = `Eus${opaque(thinking.text, 120)}` } = thinking;
    content.push({
      deltas: (size) =>
        [...pieces(text, size).map((piece) => ({ text: piece })), { signature }].map((reasoningContent) => ({
          reasoningContent,
        })),
      whole: { reasoningContent: { reasoningText: { text, signature } } },
    });
  }
  const { text } = reply;
  if (text !== undefined)
    content.push({ deltas: (size) => pieces(text, size).map((piece) => ({ text: piece })), whole: { text } });
  reply.toolCalls?.forEach((call, index) => {
    const toolUseId = call.id ?? `tooluse_${opaque(`${ids.toolCallSeed} ${index}`, 22)}`;
    const { name } = call;
    content.push({
      start: { toolUse: { toolUseId, name } },
      deltas: (size) => pieces(argumentText(call.arguments), size).map((input) => ({ toolUse: { input } })),
      whole: { toolUse: { toolUseId, name, input: argumentValue(call.arguments) } },
    });
  });
  return content;
}

function usage(reply: Reply, question: Question): Fields {
  const { input, output, cacheRead, cacheWrite } = usageOf(reply, question);
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output + cacheRead + cacheWrite,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
    serverToolUsage: {},
  };
}
