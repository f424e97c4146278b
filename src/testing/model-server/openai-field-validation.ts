import { asFields, asList, type JsonObject } from "../../platform/text/json.ts";
import type { OpenAiValidationError } from "./openai-validation.ts";
import { getMessages, type ModelServerRequest } from "./request.ts";

/** A rule of OpenAI itself; other vendors with its protocol are less strict. */
const MAX_ID_CHARS = 40;
const OPENAI_MODEL = /^(?:gpt-|o\d)/;
const REASONING_MODEL = /^(?:o\d|gpt-(?:5|[6-9]))/;
/** Models that accept no functions together with reasoning. */
const RESPONSES_ONLY_MODEL = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/;
const NAME = /^[a-zA-Z0-9_-]+$/;

/** Returns Chat Completions' own error for the fields of a request. */
export function validateOpenAiFields(question: ModelServerRequest): OpenAiValidationError | undefined {
  const { body, model } = question;
  return (
    validateTools(body) ??
    getMessages(body)
      .map((message, index) => validateMessage(message, index, OPENAI_MODEL.test(model)))
      .find((objection) => objection !== undefined) ??
    validateFormat(body) ??
    (OPENAI_MODEL.test(model) ? validateModel(body, model) : undefined)
  );
}

function validateTools(body: JsonObject): OpenAiValidationError | undefined {
  for (const [index, tool] of asList(body["tools"]).entries()) {
    if (NAME.test(String(asFields(asFields(tool)["function"])["name"]))) continue;
    const param = `tools[${index}].function.name`;
    return {
      message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      param,
    };
  }
  return undefined;
}

function validateMessage(
  message: JsonObject,
  index: number,
  isOpenAi: boolean,
): OpenAiValidationError | undefined {
  const calls = asList(message["tool_calls"]).map(asFields);
  const param = `messages.[${index}].content`;
  if (message["role"] === "assistant" && calls.length === 0 && message["content"] === null)
    return { message: "Invalid value for 'content': expected a string, got null.", param };
  for (const [at, call] of calls.entries()) {
    const path = `messages[${index}].tool_calls[${at}]`;
    const { length } = String(call["id"]);
    if (isOpenAi && length > MAX_ID_CHARS)
      return {
        message: `Invalid '${path}.id': string too long. Expected a string with maximum length ${MAX_ID_CHARS}, but got a string with length ${length} instead.`,
        param: `${path}.id`,
      };
    const { name, arguments: args } = asFields(call["function"]);
    if (!NAME.test(String(name)))
      return {
        message: `Invalid '${path}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        param: `${path}.function.name`,
      };
    if (typeof args !== "string")
      return {
        message: `Invalid type for '${path}.function.arguments': expected a string, but got an object instead.`,
        param: `${path}.function.arguments`,
      };
  }
  return undefined;
}

function validateFormat(body: JsonObject): OpenAiValidationError | undefined {
  if (asFields(body["response_format"])["type"] !== "json_object") return undefined;
  if (/json/i.test(JSON.stringify(body["messages"]))) return undefined;
  return {
    message:
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    param: "messages",
  };
}

function validateModel(body: JsonObject, model: string): OpenAiValidationError | undefined {
  const effort = body["reasoning_effort"];
  if (RESPONSES_ONLY_MODEL.test(model) && asList(body["tools"]).length > 0 && effort !== "none")
    return {
      message: `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`,
      param: "reasoning_effort",
    };
  if (!REASONING_MODEL.test(model)) return undefined;
  if (body["max_tokens"] !== undefined)
    return {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      param: "max_tokens",
    };
  const objection = validateEffort(effort, model, "reasoning_effort");
  if (objection !== undefined) return objection;
  const { temperature } = body;
  if (temperature === undefined || temperature === 1 || effort === "none") return undefined;
  return {
    message: `Unsupported value: 'temperature' does not support ${String(temperature)} with this model. Only the default (1) value is supported.`,
    param: "temperature",
  };
}

/** Returns the API's own error for reasoning efforts that the model does not support. */
const UNSUPPORTED_EFFORTS: readonly (readonly [RegExp, readonly unknown[]])[] = [
  [/^gpt-5-pro/, ["none", "minimal", "low", "medium", "xhigh"]],
  [/^gpt-[5-9](?:\.\d+)?-pro/, ["none", "minimal", "low"]],
  [/^gpt-5(?:\.1)?-codex(?!-max)/, ["none", "minimal", "xhigh"]],
  [/-codex/, ["none", "minimal"]],
  [/^gpt-5(?!\.)/, ["none", "xhigh"]],
  [/^gpt-5\.1(?!\d)/, ["minimal", "xhigh"]],
  [/^gpt-/, ["minimal"]],
  [/^o\d/, ["none", "minimal", "xhigh"]],
];

export function validateEffort(
  effort: unknown,
  model: string,
  param: string,
): OpenAiValidationError | undefined {
  const refused = REASONING_MODEL.test(model)
    ? UNSUPPORTED_EFFORTS.find(([name]) => name.test(model))?.[1]
    : undefined;
  if (refused?.includes(effort) !== true) return undefined;
  return {
    message: `Unsupported value: '${String(effort)}' is not supported with the '${model}' model.`,
    param,
  };
}
