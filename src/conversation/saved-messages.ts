// The spelling of messages in files (PER-02): camelCase but for the counters of usage; an application's own message is flat.
// What people, models and tools have put into a message is left as it is, whatever its keys are called.

type Fields = Readonly<Record<string, unknown>>;

const USAGE_KEYS = {
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  totalTokens: "total_tokens",
} as const;

/** Read in place of the spelling that we write. */
const OTHER_KEYS: Readonly<Record<string, string>> = {
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
const NO_USAGE: Fields = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** As a message stands in a file. */
export function messageToFile(message: object): object {
  const { usage, ...rest } = message as Fields;
  return usage === undefined ? rest : { ...rest, usage: usageToFile(usage as object) };
}

export function usageToFile(usage: object): object {
  return Object.fromEntries(
    Object.entries(usage).map(([key, value]) => [USAGE_KEYS[key as keyof typeof USAGE_KEYS] ?? key, value]),
  );
}

/** As we have a message, from either spelling; what older files leave out is filled in (PER-04). */
export function messageFromFile(value: unknown): unknown {
  if (!isFields(value)) return value;
  const message = renamed(value);
  const said = String(message["role"]);
  const role = ROLES[said.toLowerCase()] ?? said;
  if (role === "extension") return { ...message, role };
  const content = typeof message["content"] === "string" ? [text(message["content"])] : message["content"];
  const turnId = isFields(message["turnId"]) ? { turnId: renamed(message["turnId"]) } : {};
  const common = {
    ...message,
    role,
    ...turnId,
    timestamp: message["timestamp"] ?? 0,
    content: Array.isArray(content) ? content.map(part) : content,
  };
  if (role === "toolResult") return { ...common, isError: message["isError"] ?? false };
  if (role !== "assistant") return common;
  return {
    ...common,
    stopReason: stopReason(message["stopReason"]),
    model: message["model"] ?? "unknown",
    provider: message["provider"] ?? "unknown",
    usage: usageFromFile(message["usage"]),
  };
}

export function usageFromFile(value: unknown): unknown {
  return { ...NO_USAGE, ...(isFields(value) ? renamed(value) : {}) };
}

function part(value: unknown): unknown {
  if (typeof value === "string") return text(value);
  if (!isFields(value)) return value;
  const { type } = value;
  return {
    ...renamed(value),
    type: typeof type === "string" ? (PART_TYPES[type.toLowerCase()] ?? type) : type,
  };
}

function text(words: string): Fields {
  return { type: "text", text: words };
}

/** `tool_use` is `toolUse`. */
function stopReason(value: unknown): unknown {
  if (typeof value !== "string") return "stop";
  return value.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function renamed(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [OTHER_KEYS[key] ?? key, of]));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
