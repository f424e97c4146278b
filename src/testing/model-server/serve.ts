import type { IncomingMessage, ServerResponse } from "node:http";
import { anthropicWire } from "./anthropic-wire.ts";
import { bedrockWire, namedInConverse } from "./bedrock-wire.ts";
import type { Decision, Desk } from "./desk.ts";
import type { Gates } from "./gates.ts";
import { geminiRoad, type NamedInPath } from "./gemini-contents.ts";
import { geminiWire } from "./gemini-wire.ts";
import { type HttpResponse, httpFault, vendorError } from "./http-fault.ts";
import type { Ledger, RecordedRequest, RequestOutcome } from "./ledger.ts";
import { openaiWire } from "./openai-wire.ts";
import { planOf, type Step } from "./plan.ts";
import { play, type Stage } from "./play.ts";
import type { PromptCache } from "./prompt-cache.ts";
import { type Question, readQuestion, type WireProtocol } from "./question.ts";
import { readBody } from "./read-body.ts";
import { responsesWire } from "./responses-wire.ts";
import type { AnswerIds, Wire } from "./wire.ts";

export type Counter = { answers: number; stopping: boolean };
type Room = {
  readonly desk: Desk;
  readonly gates: Gates;
  readonly ledger: Ledger;
  readonly counter: Counter;
  readonly promptCache: PromptCache;
};

type Road = { readonly protocol: WireProtocol; readonly wire: Wire; readonly named?: NamedInPath };

const ROADS: Readonly<Record<string, Road>> = {
  "/v1/messages": { protocol: "anthropic_messages", wire: anthropicWire },
  "/v1/chat/completions": { protocol: "openai_completions", wire: openaiWire },
  "/v1/responses": { protocol: "openai_responses", wire: responsesWire },
};

/** Azure's ways to the same: of today, dated, and of a deployment. */
const AZURE_RESPONSES = /^\/openai(?:\/v1|\/deployments\/[^/]+)?\/responses$/;

/** Where an address leads; some name the model themselves. */
function roadOf(path: string): Road | undefined {
  const gemini = geminiRoad(path);
  if (gemini !== undefined) return { ...gemini, wire: geminiWire };
  const named = namedInConverse(path);
  if (named !== undefined) return { protocol: "bedrock_converse_stream", wire: bedrockWire, named };
  return ROADS[AZURE_RESPONSES.test(path) ? "/v1/responses" : path];
}

/** One request of a client, from its first byte to the end of the answer. */
export async function serve(request: IncomingMessage, response: ServerResponse, room: Room): Promise<void> {
  const path = (request.url ?? "/").split("?")[0]!;
  const road = roadOf(path);
  if (road === undefined || request.method !== "POST") {
    request.resume();
    return respond(response, notFound(request.method, path));
  }
  const bytes = await readBody(request);
  const answerId = `${++room.counter.answers} ${startedAt}`;
  const body = parsed(bytes.toString("utf8"));
  if (body === undefined) {
    const error = {
      ...road.wire.error("invalid"),
      message: "We could not parse the JSON body of your request.",
    };
    return respond(response, vendorError(road.wire, answerId, error));
  }
  const sent = headersOf(request);
  const question = readQuestion(road.protocol, body, sent, bytes.length, road.named, path);
  const record = room.ledger.open(question);
  const settle = settlement(response, record, room);
  const answer = await answerTo(withCache(question, road.wire, room), road.wire, answerId, record, room);
  settle.planned = answer.outcome;
  await play(response, answer.steps, {
    gates: room.gates,
    status: answer.status,
    head: answer.head,
    onBytes: (bytes) => room.ledger.sent(record, bytes),
    onCut: () => room.ledger.close(record, "faulted"),
    onHold: (heldAt) => room.ledger.change(record, { heldAt }),
  } satisfies Stage);
}

function withCache(question: Question, wire: Wire, { desk, promptCache }: Room): Question {
  if (desk.script.promptCache !== true || wire.prompt === undefined) return question;
  const owner = [question.protocol, question.model, ownerOf(question)].join(" ");
  return { ...question, cached: promptCache.take(wire.prompt(question), owner) };
}

/** Makes the ids of one server's answers differ from those of another's. */
const startedAt = Date.now();

/** Closes the record when the answer is out, or when the client has left before. */
function settlement(response: ServerResponse, record: RecordedRequest, room: Room) {
  const settle: { planned: RequestOutcome } = { planned: "faulted" };
  response.once("finish", () => room.ledger.close(record, settle.planned));
  response.once("close", () =>
    room.ledger.close(record, room.counter.stopping ? "open" : "aborted-by-client"),
  );
  return settle;
}

type Performance = {
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly head: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
};

async function answerTo(
  question: Question,
  wire: Wire,
  answerId: string,
  record: RecordedRequest,
  { desk, ledger }: Room,
): Promise<Performance> {
  const { script } = desk;
  if (script.apiKey !== undefined && !proves(wire, question, script.apiKey)) {
    ledger.change(record, { fault: "unauthorized" });
    return whole(vendorError(wire, answerId, wire.error("auth", question)));
  }
  const objection = script.strict === false ? undefined : wire.objection(question);
  if (objection !== undefined) {
    ledger.change(record, { fault: "invalid-request", objection: objection.message });
    return whole(vendorError(wire, answerId, objection));
  }
  try {
    const decision = await desk.decide(question);
    if (decision.type !== "reply") ledger.change(record, { fault: decision.fault.fault });
    if (decision.type === "error") return whole(httpFault(decision.fault, wire, question, answerId));
    return performed(decision, wire, question, answerId, script.toolCallIds === "fresh");
  } catch (error) {
    ledger.change(record, { fault: "script-error", objection: String(error) });
    return whole({ status: 500, headers: { "content-type": "text/plain" }, body: `${error}` });
  }
}

function performed(
  decision: Exclude<Decision, { type: "error" }>,
  wire: Wire,
  question: Question,
  answerId: string,
  fresh: boolean,
): Performance {
  const { reply } = decision;
  const ids: AnswerIds = {
    answer: answerId,
    toolCallSeed: fresh ? answerId : `${question.conversation} ${question.turn}`,
  };
  const frames = question.stream ? wire.frames(reply, question, ids) : [wire.body(reply, question, ids)];
  const failing = decision.type === "reply" ? undefined : { fault: decision.fault, wire, answerId };
  const streamed = wire.contentType ?? "text/event-stream; charset=utf-8";
  const type = question.stream ? streamed : "application/json";
  return {
    outcome: failing === undefined ? "answered" : "faulted",
    status: 200,
    head: { "content-type": type, "cache-control": "no-cache", ...wire.headers(answerId) },
    steps: planOf(reply, frames, failing),
  };
}

function whole({ status, headers, body }: HttpResponse): Performance {
  const steps: Step[] = [{ type: "head" }, { type: "write", data: body }, { type: "end" }];
  return { outcome: "faulted", status, head: headers, steps };
}

function proves(wire: Wire, question: Question, key: string): boolean {
  return wire.proves?.(question, key) ?? keyOf(question) === key;
}

function keyOf(question: Question): string | undefined {
  const { headers } = question;
  const named = ["x-api-key", "api-key", "x-goog-api-key"].map((name) => headers[name]);
  return named.find((key) => key !== undefined) ?? headers["authorization"]?.replace(/^Bearer /, "");
}

/** Whose prompts are kept together: a signature is another for each request, and names the key in plain. */
function ownerOf(question: Question): string {
  const key = keyOf(question) ?? "";
  return /Credential=([^/]+)/.exec(key)?.[1] ?? key;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

function notFound(method: string | undefined, path: string): HttpResponse {
  const message = `Invalid URL (${method} ${path})`;
  return {
    status: 404,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      type: "error",
      error: { type: "not_found_error", message, param: null, code: null },
    }),
  };
}

function respond(response: ServerResponse, { status, headers, body }: HttpResponse): void {
  response.writeHead(status, headers).end(body);
}
