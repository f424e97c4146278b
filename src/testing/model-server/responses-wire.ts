import { responsesPrompt } from "./kept-prompt.ts";
import { OPENAI_ERRORS, openaiError, openaiHeaders, toldWrite } from "./openai-wire.ts";
import { argumentText, DEFAULT_CHUNK_SIZE, opaque, pieces, stopOf, thinkingOf, usageOf } from "./pieces.ts";
import type { Question } from "./question.ts";
import type { Reply } from "./reply.ts";
import { responsesObjection } from "./responses-objection.ts";
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
  frames(reply, question, ids) {
    const output = outputOf(reply, question, ids);
    const begun = { response: responseOf(reply, question, ids, "in_progress", []) };
    const status = statusOf(reply);
    const events: Json[] = [
      { type: "response.created", ...begun },
      { type: "response.in_progress", ...begun },
      ...output.flatMap((item, index) => eventsOf(item, index, reply.chunkSize ?? DEFAULT_CHUNK_SIZE)),
      { type: `response.${status}`, response: responseOf(reply, question, ids, status, output) },
    ];
    return events.map((event, number) => frame({ ...event, sequence_number: number }));
  },

  body: (reply, question, ids) =>
    JSON.stringify(responseOf(reply, question, ids, statusOf(reply), outputOf(reply, question, ids))),

  headers: openaiHeaders,

  error: (kind) => ERRORS[kind],

  errorBody: (error) => JSON.stringify(openaiError(error.type, error.message, error)),

  errorFrame: (type = "server_error", message = ERRORS["server-error"].message) =>
    frame({ type: "error", ...openaiError(type, message, { code: type }), sequence_number: 9 }),

  malformedFrame: () =>
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","del\n\n',

  prompt: responsesPrompt,

  objection: (question) => {
    const objection = responsesObjection(question);
    return objection === undefined ? undefined : { ...ERRORS.invalid, ...objection };
  },
};

function frame(event: Json): string {
  return `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Whatever else a script says is the reason for an end before the end. */
function statusOf(reply: Reply): "completed" | "incomplete" {
  return ["stop", "toolUse", "refusal"].includes(stopOf(reply)) ? "completed" : "incomplete";
}

function responseOf(
  reply: Reply,
  question: Question,
  ids: AnswerIds,
  status: "in_progress" | "completed" | "incomplete",
  output: readonly Json[],
): Json {
  const stop = stopOf(reply);
  const counts = usageOf(reply, question);
  const input = counts.input + counts.cacheRead + counts.cacheWrite;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cache_write_tokens: toldWrite(reply), cached_tokens: counts.cacheRead },
    output_tokens: counts.output,
    output_tokens_details: { reasoning_tokens: counts.reasoning },
    total_tokens: input + counts.output,
  };
  return {
    id: `resp_${opaque(ids.answer, 48).toLowerCase()}`,
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

/** Whole items: reasoning, a message, calls. */
function outputOf(reply: Reply, question: Question, ids: AnswerIds): readonly Json[] {
  const made: Json[] = [];
  const id = (prefix: string) => `${prefix}_${opaque(`${ids.answer} ${made.length}`, 48).toLowerCase()}`;
  const thinking = thinkingOf(reply);
  if (thinking !== undefined) {
    const included = (question.body["include"] as unknown[] | undefined)?.includes(
      "reasoning.encrypted_content",
    );
    const sealed = thinking.signature ?? `gAAAAAB${opaque(thinking.text, 120)}`;
    const shown = thinking.redacted !== true && thinking.text !== "";
    made.push({
      id: id("rs"),
      type: "reasoning",
      ...(included === true && { encrypted_content: sealed }),
      summary: shown ? [{ type: "summary_text", text: thinking.text }] : [],
    });
  }
  if (reply.text !== undefined) {
    const part =
      stopOf(reply) === "refusal"
        ? { type: "refusal", refusal: reply.text }
        : { type: "output_text", annotations: [], logprobs: [], text: reply.text };
    const phase = (reply.toolCalls?.length ?? 0) > 0 ? "commentary" : "final_answer";
    const status = statusOf(reply);
    made.push({ id: id("msg"), type: "message", status, content: [part], phase, role: "assistant" });
  }
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    made.push({
      id: id("fc"),
      type: "function_call",
      status: "completed",
      arguments: argumentText(call.arguments),
      call_id: call.id ?? `call_${opaque(`${ids.toolCallSeed} ${index}`, 24)}`,
      name: call.name,
    });
  }
  return made;
}

/** How an item comes: begun, in pieces, whole. */
function eventsOf(item: Json, output_index: number, size: number): readonly Json[] {
  const at = { output_index, item_id: item["id"] };
  const empty = {
    ...item,
    ...(item["type"] !== "reasoning" && { status: "in_progress" }),
    ...EMPTY[String(item["type"])],
  };
  const part = (item["content"] as Json[] | undefined)?.[0];
  return [
    { type: "response.output_item.added", output_index, item: empty },
    ...(item["type"] === "reasoning" ? summaryEvents(item, at, size) : []),
    ...(part === undefined ? [] : partEvents(part, { ...at, content_index: 0 }, size)),
    ...(item["type"] === "function_call" ? argumentEvents(item, at, size) : []),
    { type: "response.output_item.done", output_index, item },
  ];
}

const EMPTY: Readonly<Record<string, Json>> = {
  reasoning: { summary: [] },
  message: { content: [] },
  function_call: { arguments: "" },
};

function summaryEvents(item: Json, at: Json, size: number): readonly Json[] {
  return (item["summary"] as { type: string; text: string }[]).flatMap((part, summary_index) => {
    const here = { ...at, summary_index };
    return [
      { type: "response.reasoning_summary_part.added", ...here, part: { ...part, text: "" } },
      ...deltas("response.reasoning_summary_text", part.text, here, size),
      { type: "response.reasoning_summary_text.done", ...here, text: part.text },
      { type: "response.reasoning_summary_part.done", ...here, part },
    ];
  });
}

function partEvents(part: Json, at: Json, size: number): readonly Json[] {
  const key = part["type"] === "refusal" ? "refusal" : "text";
  const name = key === "refusal" ? "response.refusal" : "response.output_text";
  const text = String(part[key]);
  const logprobs = key === "text" ? { logprobs: [] } : {};
  return [
    { type: "response.content_part.added", ...at, part: { ...part, [key]: "" } },
    ...deltas(name, text, { ...at, ...logprobs }, size),
    { type: `${name}.done`, ...at, ...logprobs, [key]: text },
    { type: "response.content_part.done", ...at, part },
  ];
}

function argumentEvents(item: Json, at: Json, size: number): readonly Json[] {
  const text = String(item["arguments"]);
  return [
    ...deltas("response.function_call_arguments", text, at, size),
    { type: "response.function_call_arguments.done", ...at, arguments: text },
  ];
}

/** With padding, as the vendor sends it to hide the lengths of its tokens. */
function deltas(name: string, text: string, at: Json, size: number): readonly Json[] {
  return pieces(text, size).map((delta) => ({
    type: `${name}.delta`,
    ...at,
    delta,
    obfuscation: "3Y6yaTIPlXVg7efl".slice(delta.length % 16),
  }));
}
