import type { OpenAiObjection } from "./openai-objection.ts";
import { messagesOf, type Question } from "./question.ts";

/** OpenAI's own; others that speak its protocol are laxer. */
const MAX_ID_CHARS = 40;
const OWN_MODEL = /^(?:gpt-|o\d)/;
const REASONS = /^(?:o\d|gpt-(?:5|[6-9]))/;
/** Takes no functions while it reasons. */
const RESPONSES_ONLY = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/;
const NAME = /^[a-zA-Z0-9_-]+$/;

type Fields = Readonly<Record<string, unknown>>;

/** What Chat Completions says against the fields of a request, in its own words. */
export function openaiFieldsObjection(question: Question): OpenAiObjection | undefined {
  const { body, model } = question;
  return (
    toolsObjection(body) ??
    messagesOf(body)
      .map((message, index) => messageObjection(message, index, OWN_MODEL.test(model)))
      .find((objection) => objection !== undefined) ??
    formatObjection(body) ??
    (OWN_MODEL.test(model) ? modelObjection(body, model) : undefined)
  );
}

function toolsObjection(body: Fields): OpenAiObjection | undefined {
  for (const [index, tool] of listOf(body["tools"]).entries()) {
    if (NAME.test(String(fieldsOf(fieldsOf(tool)["function"])["name"]))) continue;
    const param = `tools[${index}].function.name`;
    return {
      message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      param,
    };
  }
  return undefined;
}

function messageObjection(message: Fields, index: number, own: boolean): OpenAiObjection | undefined {
  const calls = listOf(message["tool_calls"]).map(fieldsOf);
  const param = `messages.[${index}].content`;
  if (message["role"] === "assistant" && calls.length === 0 && message["content"] === null)
    return { message: "Invalid value for 'content': expected a string, got null.", param };
  for (const [at, call] of calls.entries()) {
    const place = `messages[${index}].tool_calls[${at}]`;
    const { length } = String(call["id"]);
    if (own && length > MAX_ID_CHARS)
      return {
        message: `Invalid '${place}.id': string too long. Expected a string with maximum length ${MAX_ID_CHARS}, but got a string with length ${length} instead.`,
        param: `${place}.id`,
      };
    const { name, arguments: args } = fieldsOf(call["function"]);
    if (!NAME.test(String(name)))
      return {
        message: `Invalid '${place}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        param: `${place}.function.name`,
      };
    if (typeof args !== "string")
      return {
        message: `Invalid type for '${place}.function.arguments': expected a string, but got an object instead.`,
        param: `${place}.function.arguments`,
      };
  }
  return undefined;
}

function formatObjection(body: Fields): OpenAiObjection | undefined {
  if (fieldsOf(body["response_format"])["type"] !== "json_object") return undefined;
  if (/json/i.test(JSON.stringify(body["messages"]))) return undefined;
  return {
    message:
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    param: "messages",
  };
}

function modelObjection(body: Fields, model: string): OpenAiObjection | undefined {
  const effort = body["reasoning_effort"];
  if (RESPONSES_ONLY.test(model) && listOf(body["tools"]).length > 0 && effort !== "none")
    return {
      message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`,
      param: "reasoning_effort",
    };
  if (!REASONS.test(model)) return undefined;
  if (body["max_tokens"] !== undefined)
    return {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
    };
  const objection = effortObjection(effort, model, "reasoning_effort");
  if (objection !== undefined) return objection;
  const { temperature } = body;
  if (temperature === undefined || temperature === 1 || effort === "none") return undefined;
  return {
    message: `Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`,
    param: "temperature",
  };
}

/** What each model refuses, as the API says it. */
const REFUSED_EFFORTS: readonly (readonly [RegExp, readonly unknown[]])[] = [
  [/^gpt-5-pro/, ["none", "minimal", "low", "medium", "xhigh"]],
  [/^gpt-[5-9](?:\.\d+)?-pro/, ["none", "minimal", "low"]],
  [/^gpt-5(?:\.1)?-codex(?!-max)/, ["none", "minimal", "xhigh"]],
  [/-codex/, ["none", "minimal"]],
  [/^gpt-5(?!\.)/, ["none", "xhigh"]],
  [/^gpt-5\.1(?!\d)/, ["minimal", "xhigh"]],
  [/^gpt-/, ["minimal"]],
  [/^o\d/, ["none", "minimal", "xhigh"]],
];

export function effortObjection(effort: unknown, model: string, param: string): OpenAiObjection | undefined {
  const refused = REASONS.test(model) ? REFUSED_EFFORTS.find(([name]) => name.test(model))?.[1] : undefined;
  if (refused?.includes(effort) !== true) return undefined;
  return {
    message: `Unsupported value: '${String(effort)}' is not supported with the '${model}' model.`,
    param,
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
