import { buildResponsesPrompt } from "./implicit-cache-prompt.ts";
import { buildOpenAiError, buildOpenAiHeaders, getReportedCacheWrite, OPENAI_ERRORS } from "./openai-wire.ts";
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
import { validateResponsesRequest } from "./responses-validation.ts";
import type { AnswerIds, Wire } from "./wire.ts";

type Json = Readonly<Record<string, unknown>>;

const ERRORS = {
  ...OPENAI_ERRORS,
  overflow: {
    ...OPENAI_ERRORS.overflow,
    param: "input",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  },
};

export const responsesWire: Wire = {
  buildFrames(reply, question, ids) {
    const output = buildOutput(reply, question, ids);
    const begun = { response: buildResponse(reply, question, ids, "in_progress", []) };
    const status = getStatus(reply);
    const events: Json[] = [
      { type: "response.created", ...begun },
      { type: "response.in_progress", ...begun },
      ...output.flatMap((item, index) => buildItemEvents(item, index, reply.chunkSize ?? DEFAULT_CHUNK_SIZE)),
      { type: `response.${status}`, response: buildResponse(reply, question, ids, status, output) },
    ];
    return events.map((event, number) => formatFrame({ ...event, sequence_number: number }));
  },

  buildBody: (reply, question, ids) =>
    JSON.stringify(buildResponse(reply, question, ids, getStatus(reply), buildOutput(reply, question, ids))),

  buildHeaders: buildOpenAiHeaders,

  buildError: (kind) => ERRORS[kind],

  formatErrorBody: (error) => JSON.stringify(buildOpenAiError(error.type, error.message, error)),

  buildErrorFrame: (type = "server_error", message = ERRORS["server-error"].message) =>
    formatFrame({ type: "error", ...buildOpenAiError(type, message, { code: type }), sequence_number: 9 }),

  buildMalformedFrame: () =>
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\n\n',

  buildPrompt: buildResponsesPrompt,

  validate: (question) => {
    const objection = validateResponsesRequest(question);
    return objection === undefined ? undefined : { ...ERRORS.invalid, ...objection };
  },
};

function formatFrame(event: Json): string {
  return `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Any other stop reason of a script is the reason of an incomplete response. */
function getStatus(reply: Reply): "completed" | "incomplete" {
  return ["stop", "toolUse", "refusal"].includes(getStop(reply)) ? "completed" : "incomplete";
}

function buildResponse(
  reply: Reply,
  question: ModelServerRequest,
  ids: AnswerIds,
  status: "in_progress" | "completed" | "incomplete",
  output: readonly Json[],
): Json {
  const stop = getStop(reply);
  const counts = computeUsage(reply, question);
  const input = counts.input + counts.cacheRead + counts.cacheWrite;
  const usage = {
    input_tokens: input,
    input_tokens_details: {
      cache_write_tokens: getReportedCacheWrite(reply),
      cached_tokens: counts.cacheRead,
    },
    output_tokens: counts.output,
    output_tokens_details: { reasoning_tokens: counts.reasoning },
    total_tokens: input + counts.output,
  };
  return {
    id: `resp_${createOpaqueText(ids.answer, 48).toLowerCase()}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    background: false,
    error: null,
    incomplete_details:
      status === "incomplete" ? { reason: stop === "length" ? "max_output_tokens" : stop } : null,
    instructions: question.body["instructions"] ?? null,
    max_output_tokens: question.body["max_output_tokens"] ?? null,
    model: question.model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    service_tier: status === "in_progress" ? "auto" : (question.body["service_tier"] ?? "default"),
    store: question.body["store"] ?? true,
    usage: status === "in_progress" ? null : usage,
    metadata: {},
  };
}

/** Builds the complete items: reasoning, a message, calls. */
function buildOutput(reply: Reply, question: ModelServerRequest, ids: AnswerIds): readonly Json[] {
  const made: Json[] = [];
  const createId = (prefix: string) =>
    `${prefix}_${createOpaqueText(`${ids.answer} ${made.length}`, 48).toLowerCase()}`;
  const thinking = getThinking(reply);
  if (thinking !== undefined) {
    const included = (question.body["include"] as unknown[] | undefined)?.includes(
      "reasoning.encrypted_content",
    );
    const sealed = thinking.signature ?? `gAAAAAB${createOpaqueText(thinking.text, 120)}`;
    const isVisible = thinking.redacted !== true && thinking.text !== "";
    made.push({
      id: createId("rs"),
      type: "reasoning",
      ...(included === true && { encrypted_content: sealed }),
      summary: isVisible ? [{ type: "summary_text", text: thinking.text }] : [],
    });
  }
  if (reply.text !== undefined) {
    const part =
      getStop(reply) === "refusal"
        ? { type: "refusal", refusal: reply.text }
        : { type: "output_text", annotations: [], logprobs: [], text: reply.text };
    const phase = (reply.toolCalls?.length ?? 0) > 0 ? "commentary" : "final_answer";
    const status = getStatus(reply);
    made.push({ id: createId("msg"), type: "message", status, content: [part], phase, role: "assistant" });
  }
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    made.push({
      id: createId("fc"),
      type: "function_call",
      status: "completed",
      arguments: formatArguments(call.arguments),
      call_id: call.id ?? `call_${createOpaqueText(`${ids.toolCallSeed} ${index}`, 24)}`,
      name: call.name,
    });
  }
  return made;
}

/** Builds the events of an item: added, deltas, done. */
function buildItemEvents(item: Json, output_index: number, size: number): readonly Json[] {
  const location = { output_index, item_id: item["id"] };
  const empty = {
    ...item,
    ...(item["type"] !== "reasoning" && { status: "in_progress" }),
    ...EMPTY[String(item["type"])],
  };
  const part = (item["content"] as Json[] | undefined)?.[0];
  return [
    { type: "response.output_item.added", output_index, item: empty },
    ...(item["type"] === "reasoning" ? buildSummaryEvents(item, location, size) : []),
    ...(part === undefined ? [] : buildPartEvents(part, { ...location, content_index: 0 }, size)),
    ...(item["type"] === "function_call" ? buildArgumentEvents(item, location, size) : []),
    { type: "response.output_item.done", output_index, item },
  ];
}

const EMPTY: Readonly<Record<string, Json>> = {
  reasoning: { summary: [] },
  message: { content: [] },
  function_call: { arguments: "" },
};

function buildSummaryEvents(item: Json, at: Json, size: number): readonly Json[] {
  return (item["summary"] as { type: string; text: string }[]).flatMap((part, summary_index) => {
    const here = { ...at, summary_index };
    return [
      { type: "response.reasoning_summary_part.added", ...here, part: { ...part, text: "" } },
      ...buildDeltas("response.reasoning_summary_text", part.text, here, size),
      { type: "response.reasoning_summary_text.done", ...here, text: part.text },
      { type: "response.reasoning_summary_part.done", ...here, part },
    ];
  });
}

function buildPartEvents(part: Json, at: Json, size: number): readonly Json[] {
  const key = part["type"] === "refusal" ? "refusal" : "text";
  const name = key === "refusal" ? "response.refusal" : "response.output_text";
  const text = String(part[key]);
  const logprobs = key === "text" ? { logprobs: [] } : {};
  return [
    { type: "response.content_part.added", ...at, part: { ...part, [key]: "" } },
    ...buildDeltas(name, text, { ...at, ...logprobs }, size),
    { type: `${name}.done`, ...at, ...logprobs, [key]: text },
    { type: "response.content_part.done", ...at, part },
  ];
}

function buildArgumentEvents(item: Json, at: Json, size: number): readonly Json[] {
  const text = String(item["arguments"]);
  return [
    ...buildDeltas("response.function_call_arguments", text, at, size),
    { type: "response.function_call_arguments.done", ...at, arguments: text },
  ];
}

/** Adds padding, which the vendor sends to hide the lengths of its tokens. */
function buildDeltas(name: string, text: string, at: Json, size: number): readonly Json[] {
  return chunkText(text, size).map((delta) => ({
    type: `${name}.delta`,
    ...at,
    delta,
    obfuscation: "3Y6yaTIPlXVg7efl".slice(delta.length % 16),
  }));
}
