import { anthropicRequest } from "../../models/anthropic-messages/request.ts";
import { AnthropicAssembler } from "../../models/anthropic-messages/stream.ts";
import { httpError, type Vendor } from "../../models/classify.ts";
import { maskFor } from "../../models/mask.ts";
import type { ModelRequest } from "../../models/provider.ts";
import { EventReader } from "../../models/sse.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import { anthropicWire } from "../../testing/model-server/anthropic-wire.ts";
import { readQuestion } from "../../testing/model-server/question.ts";
import type { Reply } from "../../testing/model-server/reply.ts";
import type { ScenarioReply } from "./schema.ts";

// The scripted vendor without a network: the bytes that the model server would send, read by the real adapter.

const HEADERS = { "anthropic-version": "2023-06-01" };

/** Makes ids of answers the same in every run. */
const ANSWER_ID = "scenario";

type Body = Readonly<Record<string, unknown>>;

/** The request as it would go over the line. */
export function requestBody(request: ModelRequest): Body {
  return anthropicRequest(request) as unknown as Body;
}

/** By this the scripted server tells apart the runs of one sub-agent: a long task is cut before it is sent. */
export function firstUserTextOf(body: Body): string {
  return readQuestion("anthropic_messages", body, HEADERS, 0).firstUserText;
}

/** What the adapter makes of the scripted answer to this request. Throws a `ProviderError` where it would. */
export function answerOf(
  reply: ScenarioReply,
  nth: number,
  body: Body,
  definition: AgentDefinition,
  atMs: number,
  caller = "call",
): AssistantMessage {
  const { provider, id } = definition.model;
  const vendor: Vendor = { name: provider, mask: maskFor([]), retryServerErrors: false };
  const question = readQuestion("anthropic_messages", body, HEADERS, 0);
  const objection = anthropicWire.objection(question);
  const failure =
    objection === undefined
      ? httpFailure(reply)
      : { status: objection.status, headers: {}, body: anthropicWire.errorBody(objection, ANSWER_ID) };
  if (failure !== undefined) throw httpError(vendor, { ...failure, bodyLost: false, now: atMs });

  const ids = { answer: ANSWER_ID, toolCallSeed: ANSWER_ID };
  const frames = anthropicWire.frames(wireReply(reply, nth, caller), { ...question, stream: true }, ids);
  const half = Math.floor(frames.length / 2);
  const spoiled =
    reply.breaksOff === undefined
      ? []
      : [anthropicWire.errorFrame(reply.breaksOff.type, reply.breaksOff.message, ANSWER_ID)];
  const whole = reply.cut === undefined && reply.breaksOff === undefined;
  const bytes = Buffer.from((whole ? frames : [...frames.slice(0, half), ...spoiled]).join(""));
  const assembler = new AnthropicAssembler({ model: id, provider, timestamp: atMs, vendor });
  for (const event of new EventReader().read(bytes)) assembler.push(event);
  return assembler.finish();
}

/** What ids of calls begin with, where a script gives none: unique in a tree. */
export function callerIn(path: string): string {
  return path === "" ? "call" : path.slice(1).replaceAll("/", "_");
}

/**
 * A reply as the model server takes it; everything that it would estimate is said.
 *
 * @param caller - What ids of its calls begin with.
 */
export function wireReply(
  { stopReason, usage, ...reply }: ScenarioReply,
  nth: number,
  caller = "call",
): Reply {
  return {
    ...(reply.text === undefined ? {} : { text: reply.text }),
    ...(reply.thinking === undefined ? {} : { thinking: reply.thinking }),
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

/** The HTTP response that a scripted error is. */
export function httpFailure({
  error,
}: ScenarioReply): { status: number; headers: Record<string, string>; body: string } | undefined {
  if (error === undefined) return undefined;
  const { status, retryAfterMs } = error;
  const headers = retryAfterMs === undefined ? {} : { "retry-after-ms": String(retryAfterMs) };
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body:
      error.body ?? anthropicWire.errorBody({ ...anthropicWire.error(kindOf(status)), status }, ANSWER_ID),
  };
}

function kindOf(status: number) {
  if (status === 429) return "rate-limited";
  if (status === 401 || status === 403) return "auth";
  if (status === 529) return "overloaded";
  return status >= 500 ? "server-error" : "invalid";
}
