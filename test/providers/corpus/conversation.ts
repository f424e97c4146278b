import type { ModelRequest } from "../../../src/models/provider.ts";
import type {
  AssistantMessage,
  Content,
  FileContent,
  ImageContent,
  Message,
  ToolCallContent,
} from "../../../src/schema/message.ts";
import type { ToolDefinition } from "../../../src/schema/tool.ts";

/** A request without its model, which an adapter's test adds. */
export type CorpusRequest = Omit<ModelRequest, "model" | "apiKey" | "headers">;

export type Conversation = { readonly name: string; readonly request: CorpusRequest };

const NO_CACHE = { enabled: false, strategy: "auto" } as const;

/** By default a conversation has no system prompt, no tools, no thinking and no cache. */
export function conversation(
  name: string,
  messages: readonly Message[],
  overrides: Partial<CorpusRequest> = {},
): Conversation {
  return {
    name,
    request: { systemPrompt: "", messages, tools: [], thinking: "off", cache: NO_CACHE, ...overrides },
  };
}

export const text = (value: string): Content => ({ type: "text", text: value });
const parts = (content: readonly (string | Content)[]): Content[] =>
  content.map((part) => (typeof part === "string" ? text(part) : part));

export const user = (...content: (string | Content)[]): Message => ({
  role: "user",
  content: parts(content),
  timestamp: 1_700_000_000_000,
});

const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** An answer of a vendor, which `provider` names as models do. */
export function answer(
  provider: string,
  content: readonly (string | Content)[],
  overrides: Partial<AssistantMessage> = {},
): Message {
  const made = parts(content);
  return {
    role: "assistant",
    content: made,
    stopReason: made.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
    model: "some-model",
    provider,
    usage: NO_USAGE,
    timestamp: 1_700_000_000_001,
    ...overrides,
  };
}

export const call = (
  id: string,
  args: unknown = { path: "a.txt" },
  overrides: Partial<ToolCallContent> = {},
): Content => ({ type: "toolCall", id, name: "read", arguments: args, ...overrides });

export const result = (
  toolCallId: string,
  content: readonly (string | Content)[] = ["ok"],
  overrides: { readonly isError?: boolean; readonly toolName?: string } = {},
): Message => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: parts(content),
  isError: false,
  timestamp: 1_700_000_000_002,
  ...overrides,
});

/** One pixel. */
export const PNG: ImageContent = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};

export const READ: ToolDefinition = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** What a vendor without text files receives: the text, between lines with the name of the file. */
export function toFileText({ name, mimeType, data }: FileContent): string {
  const text = Buffer.from(data, "base64").toString("utf8");
  return `[File ${name}, ${mimeType}]\n${text}${text.endsWith("\n") ? "" : "\n"}[End of file ${name}]`;
}
