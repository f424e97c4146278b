import { createHash } from "node:crypto";
import { getSystemParts, type PathParameters, toGeminiMessages } from "./gemini-contents.ts";
import type { CachedTokens } from "./prompt-cache.ts";
import { toResponsesMessages } from "./responses-items.ts";

/** A protocol of a vendor that a scripted model server speaks. */
export type WireProtocol =
  | "anthropic_messages"
  | "openai_completions"
  | "openai_responses"
  | "google_generative_ai"
  | "google_vertex"
  | "bedrock_converse_stream";

/** A request to the model, with the fields that a script needs. */
export type ModelServerRequest = {
  /** The protocol of the request. */
  readonly protocol: WireProtocol;
  /** The header `x-conversation`, or else a name derived from the first user message and the system prompt. */
  readonly conversation: string;
  /** The number of assistant messages in the request. */
  readonly turn: number;
  /** The model that the request names. */
  readonly model: string;
  /** The text of the system prompt. */
  readonly system: string;
  /** The text of the first user message. */
  readonly firstUserText: string;
  /** The text of the newest message, including tool results. */
  readonly lastText: string;
  /** Whether the request asks for a stream. */
  readonly stream: boolean;
  /** OpenAI: the stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  /** The length of the request in bytes, for estimates. */
  readonly bytes: number;
  /** The body, parsed. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** How many tokens the vendor's cache has, if the script enables the cache. */
  readonly cached?: CachedTokens | undefined;
  /** The path of the address, unchanged. */
  readonly path: string;
};

export type WireMessage = {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly [key: string]: unknown;
};

export function parseRequest(
  protocol: WireProtocol,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
  bytes: number,
  pathParameters?: PathParameters,
  path = "",
): ModelServerRequest {
  const messages = listMessages(protocol, body);
  const system = getSystemText(protocol, body, messages);
  const firstUserText = getText(messages.find((message) => message.role === "user")?.content);
  const streamOptions = body["stream_options"] as { include_usage?: unknown } | null | undefined;
  return {
    protocol,
    conversation: headers["x-conversation"] ?? createConversationName(system, firstUserText),
    turn: messages.filter((message) => message.role === "assistant").length,
    model: pathParameters?.model ?? String(body["model"] ?? ""),
    system,
    firstUserText,
    lastText: getText(messages.at(-1)?.content),
    stream: pathParameters?.stream ?? body["stream"] === true,
    includeUsage: streamOptions?.include_usage === true,
    bytes,
    body,
    headers,
    path,
  };
}

function listMessages(
  protocol: WireProtocol,
  body: Readonly<Record<string, unknown>>,
): readonly WireMessage[] {
  switch (protocol) {
    case "openai_responses":
      return toResponsesMessages(body["input"]);
    case "google_generative_ai":
    case "google_vertex":
      return toGeminiMessages(body);
    default:
      return getMessages(body);
  }
}

function getSystemText(
  protocol: WireProtocol,
  body: Readonly<Record<string, unknown>>,
  messages: readonly WireMessage[],
): string {
  switch (protocol) {
    case "anthropic_messages":
    case "bedrock_converse_stream":
      return getText(body["system"]);
    case "openai_responses":
      return getText(body["instructions"]);
    case "google_generative_ai":
    case "google_vertex":
      return getText(getSystemParts(body));
    default:
      return messages
        .filter(isInstruction)
        .map((message) => getText(message.content))
        .join("\n");
  }
}

export function getMessages(body: Readonly<Record<string, unknown>>): readonly WireMessage[] {
  const messages = body["messages"];
  return Array.isArray(messages) ? messages.filter((message) => typeof message === "object" && message) : [];
}

function isInstruction(message: WireMessage): boolean {
  return message.role === "system" || message.role === "developer";
}

type Block = {
  readonly text?: unknown;
  readonly content?: unknown;
  readonly toolResult?: { readonly content?: unknown };
};

/**
 * Returns the text of a content field of any vendor: a string, or blocks, including those in a tool result.
 *
 * @testonly
 */
export function getText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: Block | null) =>
      typeof block?.text === "string" ? block.text : getText(block?.content ?? block?.toolResult?.content),
    )
    .filter((text) => text !== "")
    .join("\n");
}

/** Shortens a text to a recognisable part. */
const NAME_CHARS = 40;

function createConversationName(system: string, firstUserText: string): string {
  const hash = createHash("sha1").update(system).update("\0").update(firstUserText).digest("hex").slice(0, 8);
  return `${firstUserText.slice(0, NAME_CHARS).replace(/\s+/g, " ")}#${hash}`;
}
