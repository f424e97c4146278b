import type { IncomingMessage, ServerResponse } from "node:http";
import { anthropicWire } from "./anthropic-wire.ts";
import { bedrockWire, parseConversePath } from "./bedrock-wire.ts";
import type { Gates } from "./gates.ts";
import { type PathParameters, parseGeminiPath } from "./gemini-contents.ts";
import { geminiWire } from "./gemini-wire.ts";
import { buildErrorResponse, buildFaultResponse, type HttpResponse } from "./http-fault.ts";
import type { Ledger, RecordedRequest, RequestOutcome } from "./ledger.ts";
import { openaiWire } from "./openai-wire.ts";
import type { PromptCache } from "./prompt-cache.ts";
import { readBody } from "./read-body.ts";
import type { ReplyDecision, ReplySelector } from "./reply-selector.ts";
import { type ModelServerRequest, parseRequest, type WireProtocol } from "./request.ts";
import { planResponse, type ResponseStep } from "./response-plan.ts";
import { type ResponseTarget, writeSteps } from "./response-steps.ts";
import { responsesWire } from "./responses-wire.ts";
import type { AnswerIds, Wire } from "./wire.ts";

export type Counter = { answers: number; stopping: boolean };
type ServerState = {
  readonly selector: ReplySelector;
  readonly gates: Gates;
  readonly ledger: Ledger;
  readonly counter: Counter;
  readonly promptCache: PromptCache;
};

type Route = {
  readonly protocol: WireProtocol;
  readonly wire: Wire;
  readonly pathParameters?: PathParameters;
};

const ROUTES: Readonly<Record<string, Route>> = {
  "/v1/messages": { protocol: "anthropic_messages", wire: anthropicWire },
  "/v1/chat/completions": { protocol: "openai_completions", wire: openaiWire },
  "/v1/responses": { protocol: "openai_responses", wire: responsesWire },
};

/** Azure's paths of the same API: current, dated, and of a deployment. */
const AZURE_RESPONSES = /^\/openai(?:\/v1|\/deployments\/[^/]+)?\/responses$/;

/** Finds the route of an address; some addresses contain the model. */
function findRoute(path: string): Route | undefined {
  const gemini = parseGeminiPath(path);
  if (gemini !== undefined) return { ...gemini, wire: geminiWire };
  const pathParameters = parseConversePath(path);
  if (pathParameters !== undefined)
    return { protocol: "bedrock_converse_stream", wire: bedrockWire, pathParameters };
  return ROUTES[AZURE_RESPONSES.test(path) ? "/v1/responses" : path];
}

/** Handles one request of a client, from its first byte to the end of the answer. */
export async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  state: ServerState,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0]!;
  const route = findRoute(path);
  if (route === undefined || request.method !== "POST") {
    request.resume();
    return respond(response, buildNotFound(request.method, path));
  }
  const bytes = await readBody(request);
  const answerId = `${++state.counter.answers} ${startedAt}`;
  const body = parseJson(bytes.toString("utf8"));
  if (body === undefined) {
    const error = {
      ...route.wire.buildError("invalid"),
      message: "We could not parse the JSON body of your request.",
    };
    return respond(response, buildErrorResponse(route.wire, answerId, error));
  }
  const headers = getHeaders(request);
  const question = parseRequest(route.protocol, body, headers, bytes.length, route.pathParameters, path);
  const record = state.ledger.open(question);
  const completion = trackCompletion(response, record, state);
  const answer = await planAnswer(
    addCachedTokens(question, route.wire, state),
    route.wire,
    answerId,
    record,
    state,
  );
  completion.planned = answer.outcome;
  await writeSteps(response, answer.steps, {
    gates: state.gates,
    status: answer.status,
    head: answer.head,
    onBytes: (bytes) => state.ledger.addBytes(record, bytes),
    onCut: () => state.ledger.close(record, "faulted"),
    onHold: (heldAt) => state.ledger.update(record, { waitingGate: heldAt }),
  } satisfies ResponseTarget);
}

function addCachedTokens(
  question: ModelServerRequest,
  wire: Wire,
  { selector, promptCache }: ServerState,
): ModelServerRequest {
  if (selector.script.promptCache !== true || wire.buildPrompt === undefined) return question;
  const owner = [question.protocol, question.model, getCacheOwner(question)].join(" ");
  return { ...question, cached: promptCache.readAndStore(wire.buildPrompt(question), owner) };
}

/** Makes the answer ids of one server differ from those of another. */
const startedAt = Date.now();

/** Closes the record when the answer is sent, or when the client leaves earlier. */
function trackCompletion(response: ServerResponse, record: RecordedRequest, state: ServerState) {
  const completion: { planned: RequestOutcome } = { planned: "faulted" };
  response.once("finish", () => state.ledger.close(record, completion.planned));
  response.once("close", () =>
    state.ledger.close(record, state.counter.stopping ? "open" : "aborted-by-client"),
  );
  return completion;
}

type PlannedResponse = {
  readonly outcome: RequestOutcome;
  readonly status: number;
  readonly head: Readonly<Record<string, string>>;
  readonly steps: readonly ResponseStep[];
};

async function planAnswer(
  question: ModelServerRequest,
  wire: Wire,
  answerId: string,
  record: RecordedRequest,
  { selector, ledger }: ServerState,
): Promise<PlannedResponse> {
  const { script } = selector;
  if (script.apiKey !== undefined && !hasValidKey(wire, question, script.apiKey)) {
    ledger.update(record, { fault: "unauthorized" });
    return planWholeResponse(buildErrorResponse(wire, answerId, wire.buildError("auth", question)));
  }
  const validationError = script.strict === false ? undefined : wire.validate(question);
  if (validationError !== undefined) {
    ledger.update(record, { fault: "invalid-request", validationError: validationError.message });
    return planWholeResponse(buildErrorResponse(wire, answerId, validationError));
  }
  try {
    const decision = await selector.select(question);
    if (decision.type !== "reply") ledger.update(record, { fault: decision.fault.fault });
    if (decision.type === "error")
      return planWholeResponse(buildFaultResponse(decision.fault, wire, question, answerId));
    return planReply(decision, wire, question, answerId, script.toolCallIds === "fresh");
  } catch (error) {
    ledger.update(record, { fault: "script-error", validationError: String(error) });
    return planWholeResponse({ status: 500, headers: { "content-type": "text/plain" }, body: `${error}` });
  }
}

function planReply(
  decision: Exclude<ReplyDecision, { type: "error" }>,
  wire: Wire,
  question: ModelServerRequest,
  answerId: string,
  fresh: boolean,
): PlannedResponse {
  const { reply } = decision;
  const ids: AnswerIds = {
    answer: answerId,
    toolCallSeed: fresh ? answerId : `${question.conversation} ${question.turn}`,
  };
  const frames = question.stream
    ? wire.buildFrames(reply, question, ids)
    : [wire.buildBody(reply, question, ids)];
  const failing = decision.type === "reply" ? undefined : { fault: decision.fault, wire, answerId };
  const streamType = wire.contentType ?? "text/event-stream; charset=utf-8";
  const type = question.stream ? streamType : "application/json";
  return {
    outcome: failing === undefined ? "answered" : "faulted",
    status: 200,
    head: { "content-type": type, "cache-control": "no-cache", ...wire.buildHeaders(answerId) },
    steps: planResponse(reply, frames, failing),
  };
}

function planWholeResponse({ status, headers, body }: HttpResponse): PlannedResponse {
  const steps: ResponseStep[] = [{ type: "head" }, { type: "write", data: body }, { type: "end" }];
  return { outcome: "faulted", status, head: headers, steps };
}

function hasValidKey(wire: Wire, question: ModelServerRequest, key: string): boolean {
  return wire.isSignedWith?.(question, key) ?? getKey(question) === key;
}

function getKey(question: ModelServerRequest): string | undefined {
  const { headers } = question;
  const keyHeaders = ["x-api-key", "api-key", "x-goog-api-key"].map((name) => headers[name]);
  return keyHeaders.find((key) => key !== undefined) ?? headers["authorization"]?.replace(/^Bearer /, "");
}

/** Returns the owner of cached prompts. A signature differs for each request, but contains the id of its key. */
function getCacheOwner(question: ModelServerRequest): string {
  const key = getKey(question) ?? "";
  return /Credential=([^/]+)/.exec(key)?.[1] ?? key;
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function getHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

function buildNotFound(method: string | undefined, path: string): HttpResponse {
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
