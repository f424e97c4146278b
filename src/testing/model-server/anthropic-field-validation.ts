import { asFields, asList, type JsonObject } from "../../platform/text/json.ts";
import type { ModelServerRequest } from "./request.ts";

/** The fields that the Messages API accepts, other than messages. */
const FIELDS = new Set([
  "cache_control",
  "container",
  "context_management",
  "inference_geo",
  "max_tokens",
  "mcp_servers",
  "messages",
  "metadata",
  "model",
  "output_config",
  "service_tier",
  "speed",
  "stop_sequences",
  "stream",
  "system",
  "temperature",
  "thinking",
  "tool_choice",
  "tools",
  "top_k",
  "top_p",
]);

const MAX_CACHE_MARKS = 4;
const MIN_BUDGET = 1024;

/** Models from Opus 4.7, which take no fixed thinking budget, no temperature and no forced tool. */
const OPUS_4_7_OR_LATER = /claude-(?:(?:opus|sonnet|haiku)-(?:4[-.][7-9]|[5-9])|fable|mythos)/;

/** Returns the Messages API's own error text for the fields of a request. */
export function validateFields({ body, model }: ModelServerRequest): string | undefined {
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  return (
    validateThinking(body, OPUS_4_7_OR_LATER.test(model)) ??
    validateTools(body) ??
    (countCacheMarks(body) > MAX_CACHE_MARKS
      ? `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${countCacheMarks(body)}.`
      : undefined) ??
    (hasBlankText(body["system"])
      ? "system: text content blocks must contain non-whitespace text"
      : undefined)
  );
}

function validateThinking(body: JsonObject, isNewer: boolean): string | undefined {
  const thinking = asFields(body["thinking"]);
  const on = thinking["type"] === "enabled" || thinking["type"] === "adaptive";
  const forced = ["any", "tool"].includes(String(asFields(body["tool_choice"])["type"]));
  const tempered = body["temperature"] !== undefined && body["temperature"] !== 1;
  if (isNewer && thinking["type"] === "enabled")
    return '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
  if (isNewer && body["temperature"] !== undefined) return "`temperature` is deprecated for this model.";
  if (forced && isNewer) return "tool_choice: forcing tool use is not supported for this model.";
  if (forced && on) return "Thinking may not be enabled when tool_choice forces tool use.";
  if (tempered && on) return "`temperature` may only be set to 1 when thinking is enabled.";
  if (thinking["type"] !== "enabled") return undefined;
  const budget = Number(thinking["budget_tokens"]);
  if (!(budget >= MIN_BUDGET))
    return `thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_BUDGET}`;
  return budget < Number(body["max_tokens"])
    ? undefined
    : "`max_tokens` must be greater than `thinking.budget_tokens`.";
}

function validateTools(body: JsonObject): string | undefined {
  const tools = asList(body["tools"]).map(asFields);
  const names = tools.map(({ name }) => String(name));
  const odd = names.findIndex((name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name));
  if (odd >= 0) return `tools.${odd}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
  if (new Set(names).size < names.length) return "tools: Tool names must be unique.";
  const choice = asFields(body["tool_choice"]);
  if (choice["type"] !== "tool" || names.includes(String(choice["name"]))) return undefined;
  return `Tool '${String(choice["name"])}' not found in provided tools`;
}

/** Counts the cache marks. A field of this name within the arguments of a call is not a mark. */
function countCacheMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + countCacheMarks(one), 0);
  const { cache_control: mark, input: _, input_schema: __, ...others } = asFields(value);
  return (mark ? 1 : 0) + Object.values(others).reduce<number>((sum, one) => sum + countCacheMarks(one), 0);
}

function hasBlankText(system: unknown): boolean {
  return Array.isArray(system) && system.some((block) => String(asFields(block)["text"]).trim() === "");
}
