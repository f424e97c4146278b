import { validateFields } from "./anthropic-field-validation.ts";
import { getMessages, type ModelServerRequest, type WireMessage } from "./request.ts";

/** Returns the Messages API's own error text for a request; undefined for a valid one. */
export function validateAnthropicRequest(question: ModelServerRequest): string | undefined {
  const { body, headers } = question;
  if (headers["anthropic-version"] === undefined) return "anthropic-version: header is required";
  if (question.model === "") return "model: Field required";
  if (typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  const messages = getMessages(body);
  if (messages.length === 0) return "messages: at least one message is required";
  const fields = validateFields(question);
  if (fields !== undefined) return fields;
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const objection = validateResults(message, index, open);
    if (objection !== undefined) return objection;
    open = message.role === "assistant" ? listIds(message, "tool_use", "id") : [];
    if (isEmptyText(message)) return "messages: text content blocks must be non-empty";
    const content = validateContent(message, index, index === messages.length - 1);
    if (content !== undefined) return content;
  }
  if (open.length > 0) return formatMissingResults(messages.length - 1, open);
  const ids = messages.flatMap((message) => listIds(message, "tool_use", "id"));
  return new Set(ids).size < ids.length ? "messages: `tool_use` ids must be unique" : undefined;
}

function validateContent(message: WireMessage, index: number, isLast: boolean): string | undefined {
  if (!Array.isArray(message.content)) return undefined;
  const path = `messages.${index}`;
  if (message.content.length === 0 && !(isLast && message.role === "assistant"))
    return `${path}: all messages must have non-empty content except for the optional final assistant message`;
  for (const [at, block] of (message.content as Record<string, unknown>[]).entries()) {
    const { type, id, text, input, signature, data } = block;
    if (type === "text" && typeof text === "string" && text.trim() === "")
      return "messages: text content blocks must contain non-whitespace text";
    if (type === "thinking" && typeof signature !== "string")
      return `${path}.content.${at}.thinking.signature: Field required`;
    if (type === "redacted_thinking" && typeof data !== "string")
      return `${path}.content.${at}.redacted_thinking.data: Field required`;
    if (type !== "tool_use") continue;
    if (!/^[a-zA-Z0-9_-]+$/.test(String(id)))
      return `${path}.content.${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (typeof input !== "object" || input === null || Array.isArray(input))
      return `${path}.content.${at}.tool_use.input: Input should be a valid dictionary`;
  }
  return undefined;
}

/** Checks the results in a message; `open` contains the tool calls of the previous message. */
function validateResults(message: WireMessage, index: number, open: readonly string[]): string | undefined {
  const results = listIds(message, "tool_result", "tool_use_id");
  const unknown = results.find((id) => !open.includes(id));
  if (unknown !== undefined) {
    return `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  const double = results.find((id, position) => results.indexOf(id) !== position);
  if (double !== undefined) {
    return `messages.${index}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${double}`;
  }
  const missing = open.filter((id) => !results.includes(id));
  return missing.length > 0 ? formatMissingResults(index - 1, missing) : undefined;
}

function formatMissingResults(index: number, ids: readonly string[]): string {
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function listIds(message: WireMessage, type: string, key: string): string[] {
  if (!Array.isArray(message.content)) return [];
  return (message.content as Record<string, unknown>[])
    .filter((block) => block["type"] === type)
    .map((block) => String(block[key]));
}

function isEmptyText(message: WireMessage): boolean {
  if (!Array.isArray(message.content)) return false;
  return (message.content as Record<string, unknown>[]).some(
    (block) => block["type"] === "text" && block["text"] === "",
  );
}
