import { AnthropicAssembler } from "../../models/anthropic-messages/anthropic-assembler.ts";
import { buildAnthropicRequest } from "../../models/anthropic-messages/request.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { createHttpError, type Vendor } from "../../models/provider-error-from-response.ts";
import { createMask } from "../../models/secret-masks.ts";
import { SseReader } from "../../models/sse-reader.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { anthropicWire } from "../../testing/model-server/anthropic-wire.ts";
import type { Reply } from "../../testing/model-server/reply.ts";
import { parseRequest } from "../../testing/model-server/request.ts";
import type { ScenarioReply } from "./schema.ts";

// The scripted vendor without a network: the real adapter reads the bytes that the model server would send.

const HEADERS = { "anthropic-version": "2023-06-01" };

/** A constant, so that answer ids are the same in every run. */
const ANSWER_ID = "scenario";

type Body = Readonly<Record<string, unknown>>;

/** Builds the request body as on the wire. */
export function buildRequestBody(request: ModelRequest): Body {
  return buildAnthropicRequest(request) as unknown as Body;
}

/** Returns the text by which the scripted server distinguishes runs of one sub-agent: a long task is truncated in it. */
export function getFirstUserText(body: Body): string {
  return parseRequest("anthropic_messages", body, HEADERS, 0).firstUserText;
}

/** Returns the adapter's result for the scripted answer, or throws its `ProviderError`. */
export function buildAnswer(
  reply: ScenarioReply,
  nth: number,
  body: Body,
  definition: AgentDefinition,
  atMs: number,
  caller = "call",
): AssistantMessage {
  const { provider, id } = definition.model;
  const vendor: Vendor = { name: provider, mask: createMask([]), retryServerErrors: false };
  const question = parseRequest("anthropic_messages", body, HEADERS, 0);
  const objection = anthropicWire.validate(question);
  const failure =
    objection === undefined
      ? buildHttpFailure(reply)
      : { status: objection.status, headers: {}, body: anthropicWire.formatErrorBody(objection, ANSWER_ID) };
  if (failure !== undefined)
    throw createHttpError(vendor, { ...failure, isBodyIncomplete: false, now: atMs });

  const ids = { answer: ANSWER_ID, toolCallSeed: ANSWER_ID };
  const frames = anthropicWire.buildFrames(
    buildReply(reply, nth, caller),
    { ...question, stream: true },
    ids,
  );
  const half = Math.floor(frames.length / 2);
  const spoiled =
    reply.breaksOff === undefined
      ? []
      : [anthropicWire.buildErrorFrame(reply.breaksOff.type, reply.breaksOff.message, ANSWER_ID)];
  const whole = reply.cut === undefined && reply.breaksOff === undefined;
  const bytes = Buffer.from((whole ? frames : [...frames.slice(0, half), ...spoiled]).join(""));
  const assembler = new AnthropicAssembler({ model: id, provider, timestamp: atMs, vendor });
  for (const event of new SseReader().read(bytes)) assembler.push(event);
  return assembler.finish();
}

/** Returns the prefix of call ids for which a script gives none: unique in a tree. */
export function getCallerId(path: string): string {
  return path === "" ? "call" : path.slice(1).replaceAll("/", "_");
}

/**
 * Builds a reply for the model server, with explicit values for everything that the server would estimate.
 *
 * @param caller - The prefix of the ids of its calls.
 */
export function buildReply(
  { stopReason, usage, ...reply }: ScenarioReply,
  nth: number,
  caller = "call",
): Reply {
  return {
    ...omitUndefined({ text: reply.text, thinking: reply.thinking }),
    ...(stopReason === undefined ? {} : { stop: stopReason === "guardRail" ? "refusal" : stopReason }),
    ...(reply.toolCalls === undefined
      ? {}
      : {
          toolCalls: reply.toolCalls.map(({ id, name, arguments: given }, call) => ({
            id: id ?? `${caller}_${nth}_${call}`,
            name,
            arguments: given ?? {},
          })),
        }),
    usage: { input: 10, output: 5, reasoning: 0, ...usage },
  };
}

/** Builds the HTTP response of a scripted error. */
export function buildHttpFailure({
  error,
}: ScenarioReply): { status: number; headers: Record<string, string>; body: string } | undefined {
  if (error === undefined) return undefined;
  const { status, retryAfterMs } = error;
  const headers = retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) };
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body:
      error.body ??
      anthropicWire.formatErrorBody({ ...anthropicWire.buildError(getErrorKind(status)), status }, ANSWER_ID),
  };
}

function getErrorKind(status: number) {
  if (status === 429) return "rate-limited";
  if (status === 401 || status === 403) return "auth";
  if (status === 529) return "overloaded";
  return status >= 500 ? "server-error" : "invalid";
}
