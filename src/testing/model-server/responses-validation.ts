import { validateEffort } from "./openai-field-validation.ts";
import type { OpenAiValidationError } from "./openai-validation.ts";
import type { ModelServerRequest } from "./request.ts";
import { getItems, isModelItem, type WireItem } from "./responses-items.ts";

/** The prefixes of ids, by item type. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};

const MAX_CALL_ID = 64;

/** Returns the Responses API's own error for a request; undefined for a valid one. */
export function validateResponsesRequest({
  body,
  model,
}: ModelServerRequest): OpenAiValidationError | undefined {
  if (model === "") return { message: "Missing required parameter: 'model'.", param: "model" };
  const items = getItems(body["input"]);
  if (items.length === 0) {
    const message =
      "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation_id' must be provided.";
    return { message, param: "input" };
  }
  const limit = body["max_output_tokens"];
  if (typeof limit === "number" && limit < 16) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`;
    return { message, param: "max_output_tokens" };
  }
  const effort = (body["reasoning"] as { effort?: unknown } | undefined)?.effort;
  const refused = validateEffort(effort, model, "reasoning.effort");
  return refused ?? validateItems(items) ?? validateCalls(items) ?? validateFormat(body, items);
}

function validateItems(items: readonly WireItem[]): OpenAiValidationError | undefined {
  for (const [at, item] of items.entries()) {
    const type = String(item.type ?? "message");
    const prefix = ID_PREFIXES[type];
    const id = item["id"];
    if (prefix !== undefined && typeof id === "string" && !id.startsWith(prefix)) {
      const message = `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`;
      return { message, param: `input[${at}].id` };
    }
    const callId = item["call_id"];
    if (typeof callId === "string" && callId.length > MAX_CALL_ID) {
      const message = `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length ${MAX_CALL_ID}, but got a string with length ${callId.length} instead.`;
      return { message, param: `input[${at}].call_id` };
    }
    if (item.role === "assistant" && listPartTypes(item).includes("input_text")) {
      const message = "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.";
      return { message, param: `input[${at}].content[0]` };
    }
    if (type !== "reasoning") continue;
    if (typeof item["encrypted_content"] !== "string") {
      const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
      return { message, param: "input" };
    }
    const next = items[at + 1];
    if (next === undefined || !isModelItem(next)) {
      const message = `Item '${id}' of type 'reasoning' was provided without its required following item.`;
      return { message, param: "input" };
    }
  }
  return undefined;
}

function listPartTypes(item: WireItem): readonly unknown[] {
  const content = item["content"];
  return Array.isArray(content) ? content.map((part: { type?: unknown } | null) => part?.type) : [];
}

function validateCalls(items: readonly WireItem[]): OpenAiValidationError | undefined {
  const open = new Set<string>();
  for (const item of items) {
    const id = String(item["call_id"]);
    if (item.type === "function_call") open.add(id);
    if (item.type !== "function_call_output" || open.delete(id)) continue;
    return { message: `No tool call found for function call output with call_id ${id}.`, param: "input" };
  }
  const [unanswered] = open;
  return unanswered === undefined
    ? undefined
    : { message: `No tool output found for function call ${unanswered}.`, param: "input" };
}

function validateFormat(
  body: Readonly<Record<string, unknown>>,
  items: readonly WireItem[],
): OpenAiValidationError | undefined {
  const text = body["text"] as { format?: { type?: unknown } } | undefined;
  if (text?.format?.type !== "json_object" || /json/i.test(JSON.stringify(items))) return undefined;
  const message =
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  return { message, param: "input" };
}
