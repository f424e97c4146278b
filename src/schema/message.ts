import { z } from "zod";

// The parts of a conversation. Field names are camelCase; the readers of foreign files also accept the
// snake_case of the sources.

/** Text, from a user, a model or a tool. */
export const TextContent = z.object({
  type: z.literal("text"),
  /** The text; Markdown if the model writes it. */
  text: z.string(),
  /** An opaque token of the vendor, as for thinking. */
  signature: z.string().optional(),
});
export type TextContent = z.infer<typeof TextContent>;

/** An image, from a user or a tool. */
export const ImageContent = z.object({
  type: z.literal("image"),
  /** Base64, without a data: prefix. */
  data: z.string(),
  /** The media type, such as `image/png`. */
  mimeType: z.string(),
  /** The name of its file, if it has one. */
  name: z.string().optional(),
});
export type ImageContent = z.infer<typeof ImageContent>;

/** A file that is not an image: a PDF document, or a text. */
export const FileContent = z.object({
  type: z.literal("file"),
  /** Base64, without a data: prefix; of text, its UTF-8. */
  data: z.string(),
  /** The media type: `application/pdf`, or that of a text, such as `text/markdown`. */
  mimeType: z.string(),
  /** The name of the file, without its folder. */
  name: z.string(),
  /** The number of pages of a PDF document, if it is known. */
  pages: z.number().int().positive().optional(),
});
export type FileContent = z.infer<typeof FileContent>;

/** What a model thinks before it answers. */
export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  /** The text of the thinking, or the vendor's summary of it. */
  thinking: z.string(),
  /** An opaque token of the vendor. It is sent back to that vendor unmodified, and to no other. */
  signature: z.string().optional(),
  /** The vendor sent the block encrypted; `signature` then holds the encrypted block. */
  redacted: z.boolean().optional(),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

/** A call of a tool in an answer. */
export const ToolCallContent = z.object({
  type: z.literal("toolCall"),
  /** Chosen by the vendor; unique within a turn, not across turns. */
  id: z.string(),
  /** The vendor's own id when it is too long to be used everywhere; `id` is then a short replacement. */
  vendorId: z.string().optional(),
  /** The name of the tool. */
  name: z.string(),
  /** What the model sent; the raw text when it was not JSON. */
  arguments: z.unknown(),
  /** An opaque token of the vendor, as for thinking. */
  signature: z.string().optional(),
});
export type ToolCallContent = z.infer<typeof ToolCallContent>;

/**
 * A block of the vendor's own in an answer, such as a search that the vendor ran and its result. It is sent back to that
 * vendor unmodified, and to no other; nothing else uses it.
 */
export const VendorContent = z.object({
  type: z.literal("vendor"),
  /** The vendor's name for it: `server_tool_use`, `web_search_call`, … */
  kind: z.string(),
  /** The complete block as JSON. */
  data: z.unknown(),
});
export type VendorContent = z.infer<typeof VendorContent>;

/** A part of a message. `type` names its kind. */
export const Content = z.discriminatedUnion("type", [
  TextContent,
  ImageContent,
  FileContent,
  ThinkingContent,
  ToolCallContent,
  VendorContent,
]);
export type Content = z.infer<typeof Content>;

/** Why a model or a turn stopped. The last six do not come from a vendor. */
export const StopReason = z.enum([
  "stop",
  "length",
  "toolUse",
  "error",
  "aborted",
  "maxTurns",
  "userStop",
  "handoff",
  "guardRail",
  "contextCompacted",
  "paused",
]);
export type StopReason = z.infer<typeof StopReason>;

/** Token counts. `reasoning` is a part of `output`; `input` excludes what was read from or written to a cache. */
export const Usage = z.object({
  /** Tokens that were neither read from nor written to a cache. */
  input: z.number().int().nonnegative(),
  /** Tokens of the answer, thinking included. */
  output: z.number().int().nonnegative(),
  /** 0 when the vendor does not report it. */
  reasoning: z.number().int().nonnegative().default(0),
  /** Tokens that the vendor read from its cache. */
  cacheRead: z.number().int().nonnegative(),
  /** Tokens that the vendor wrote to its cache. */
  cacheWrite: z.number().int().nonnegative(),
  /** As the vendor reports it, or the sum of the parts. */
  totalTokens: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof Usage>;

/** Where a message belongs: the loop in which it was made, and the 0-based turn within the loop. */
export const TurnId = z.object({ loopId: z.string(), turnIndex: z.number().int().nonnegative() });
export type TurnId = z.infer<typeof TurnId>;

const timestamp = z.number().int();

/**
 * What a sender notes about a message for programs, such as the id of a request or of a trace. Holdfast stores it and
 * never sends it to a model.
 */
export const MessageMetadata = z.record(z.string(), z.unknown());
export type MessageMetadata = z.infer<typeof MessageMetadata>;

/** A message of a user, or of a program in the user's place. */
export const UserMessage = z.object({
  role: z.literal("user"),
  /** The parts, in order. */
  content: z.array(Content),
  /** Unix milliseconds. The order in a view comes from the position, never from this. */
  timestamp,
  /** What the sender notes about the message for programs; never sent to a model. */
  metadata: MessageMetadata.optional(),
  /** Where the message belongs; absent before it has joined a loop. */
  turnId: TurnId.optional(),
});
export type UserMessage = z.infer<typeof UserMessage>;

/** An answer of a model. */
export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  /** The parts, in the order in which the model wrote them. */
  content: z.array(Content),
  /** Why the model stopped. */
  stopReason: StopReason,
  /** The vendor's name for the model. */
  model: z.string(),
  /** The vendor. */
  provider: z.string(),
  usage: Usage,
  /** Unix milliseconds. */
  timestamp,
  /** What failed, for an answer with the stop reason `error`. */
  errorMessage: z.string().optional(),
  /** The vendor's id of this answer, when it provides one. */
  responseId: z.string().optional(),
  /** The tier at which the vendor served it, when the vendor reports one that is not its default. */
  serviceTier: z.string().optional(),
  /** The tokens of the longest of several requests for this answer: prices depend on the length of one request. */
  longestQuestion: z.number().int().nonnegative().optional(),
  /** Where the message belongs. */
  turnId: TurnId.optional(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

/** The result of one call. It follows the answer that made the call. */
export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  /** The parts that the model reads. */
  content: z.array(Content),
  /** Whether the call failed, could not run, or was denied. */
  isError: z.boolean(),
  /** For users and programs; never sent to a model. */
  details: z.unknown().optional(),
  /** Unix milliseconds. */
  timestamp,
  childLoopId: z.string().optional(),
  /** Where the message belongs. */
  turnId: TurnId.optional(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A message that a model can read. */
export const Message = z.discriminatedUnion("role", [UserMessage, AssistantMessage, ToolResultMessage]);
export type Message = z.infer<typeof Message>;

/** What an application stores in the conversation for itself. Never sent to a model. */
export const ExtensionMessage = z.object({
  role: z.literal("extension"),
  /** What it is, in the application's own words. */
  kind: z.string(),
  /** Any JSON value. */
  data: z.unknown(),
  /** Unix milliseconds. */
  timestamp: timestamp.optional(),
});
export type ExtensionMessage = z.infer<typeof ExtensionMessage>;

/** Any message of a conversation: one that a model can read, or the application's own. */
export const AgentMessage = z.discriminatedUnion("role", [
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  ExtensionMessage,
]);
export type AgentMessage = z.infer<typeof AgentMessage>;
