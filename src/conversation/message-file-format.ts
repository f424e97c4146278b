import { NO_USAGE } from "../core/budget/usage.ts";
import { isObject, type JsonObject } from "../platform/text/json.ts";

// The format of messages in files (PER-02): camelCase except for the counters of usage; an application's message is flat.
// What users, models and tools have put into a message stays unchanged, whatever its keys are.

const USAGE_KEYS = {
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  totalTokens: "total_tokens",
} as const;

/** Accepted in place of the keys that we write. */
const ALTERNATE_KEYS: Readonly<Record<string, string>> = {
  stop_reason: "stopReason",
  error_message: "errorMessage",
  response_id: "responseId",
  turn_id: "turnId",
  loop_id: "loopId",
  turn_index: "turnIndex",
  tool_call_id: "toolCallId",
  tool_name: "toolName",
  is_error: "isError",
  child_loop_id: "childLoopId",
  mime_type: "mimeType",
  vendor_id: "vendorId",
  cache_read: "cacheRead",
  cache_write: "cacheWrite",
  total_tokens: "totalTokens",
};

const PART_TYPES: Readonly<Record<string, string>> = { tool_call: "toolCall", toolcall: "toolCall" };
const ROLES: Readonly<Record<string, string>> = { tool_result: "toolResult", toolresult: "toolResult" };

/** Converts a message to its form in a file. */
export function encodeMessage(message: object): object {
  const { usage, ...rest } = message as JsonObject;
  return usage === undefined ? rest : { ...rest, usage: encodeUsage(usage as object) };
}

export function encodeUsage(usage: object): object {
  return Object.fromEntries(
    Object.entries(usage).map(([key, value]) => [USAGE_KEYS[key as keyof typeof USAGE_KEYS] ?? key, value]),
  );
}

/** Converts a message in either format to ours, and fills in what older files omit (PER-04). */
export function decodeMessage(value: unknown): unknown {
  if (!isObject(value)) return value;
  const message = renameKeys(value);
  const savedRole = String(message["role"]);
  const role = ROLES[savedRole.toLowerCase()] ?? savedRole;
  if (role === "extension") return { ...message, role };
  const content =
    typeof message["content"] === "string" ? [buildTextPart(message["content"])] : message["content"];
  const turnId = isObject(message["turnId"]) ? { turnId: renameKeys(message["turnId"]) } : {};
  const common = {
    ...message,
    role,
    ...turnId,
    timestamp: message["timestamp"] ?? 0,
    content: Array.isArray(content) ? content.map(decodePart) : content,
  };
  if (role === "toolResult") return { ...common, isError: message["isError"] ?? false };
  if (role !== "assistant") return common;
  return {
    ...common,
    stopReason: decodeStopReason(message["stopReason"]),
    model: message["model"] ?? "unknown",
    provider: message["provider"] ?? "unknown",
    usage: decodeUsage(message["usage"]),
  };
}

export function decodeUsage(value: unknown): unknown {
  return { ...NO_USAGE, ...(isObject(value) ? renameKeys(value) : {}) };
}

function decodePart(value: unknown): unknown {
  if (typeof value === "string") return buildTextPart(value);
  if (!isObject(value)) return value;
  const { type } = value;
  return {
    ...renameKeys(value),
    type: typeof type === "string" ? (PART_TYPES[type.toLowerCase()] ?? type) : type,
  };
}

function buildTextPart(content: string): JsonObject {
  return { type: "text", text: content };
}

/** Converts a stop reason: `tool_use` is `toolUse`. */
function decodeStopReason(value: unknown): unknown {
  if (typeof value !== "string") return "stop";
  return value.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function renameKeys(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [ALTERNATE_KEYS[key] ?? key, of]));
}
