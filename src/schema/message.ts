import { z } from "zod";

// The parts of a conversation. Field names are camelCase; the readers of foreign files also accept the
// snake_case of the sources.

export const TextContent = z.object({
  type: z.literal("text"),
  text: z.string(),
  /** An opaque token of the vendor, as for thinking. */
  signature: z.string().optional(),
});
export type TextContent = z.infer<typeof TextContent>;

export const ImageContent = z.object({
  type: z.literal("image"),
  /** Base64, without a data: prefix. */
  data: z.string(),
  mimeType: z.string(),
});
export type ImageContent = z.infer<typeof ImageContent>;

export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  thinking: z.string(),
  /** An opaque token of the vendor. It is sent back to that vendor unmodified, and to no other. */
  signature: z.string().optional(),
  /** The vendor sent the block encrypted; `signature` then holds the encrypted block. */
  redacted: z.boolean().optional(),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

export const ToolCallContent = z.object({
  type: z.literal("toolCall"),
  /** Chosen by the vendor; unique within a turn, not across turns. */
  id: z.string(),
  /** The vendor's own id when it is too long to be used everywhere; `id` is then a short replacement. */
  vendorId: z.string().optional(),
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

export const Content = z.discriminatedUnion("type", [
  TextContent,
  ImageContent,
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
  input: z.number().int().nonnegative(),
  output: z.number().int().nonnegative(),
  /** 0 when the vendor does not report it. */
  reasoning: z.number().int().nonnegative().default(0),
  cacheRead: z.number().int().nonnegative(),
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

export const UserMessage = z.object({
  role: z.literal("user"),
  content: z.array(Content),
  /** Unix milliseconds. The order in a view comes from the position, never from this. */
  timestamp,
  metadata: MessageMetadata.optional(),
  turnId: TurnId.optional(),
});
export type UserMessage = z.infer<typeof UserMessage>;

export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.array(Content),
  stopReason: StopReason,
  model: z.string(),
  provider: z.string(),
  usage: Usage,
  timestamp,
  errorMessage: z.string().optional(),
  /** The vendor's id of this answer, when it provides one. */
  responseId: z.string().optional(),
  /** The tier at which the vendor served it, when the vendor reports one that is not its default. */
  serviceTier: z.string().optional(),
  /** The tokens of the longest of several requests for this answer: prices depend on the length of one request. */
  longestQuestion: z.number().int().nonnegative().optional(),
  turnId: TurnId.optional(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  content: z.array(Content),
  isError: z.boolean(),
  /** For users and programs; never sent to a model. */
  details: z.unknown().optional(),
  timestamp,
  childLoopId: z.string().optional(),
  turnId: TurnId.optional(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A message that a model can read. */
export const Message = z.discriminatedUnion("role", [UserMessage, AssistantMessage, ToolResultMessage]);
export type Message = z.infer<typeof Message>;

/** What an application stores in the conversation for itself. Never sent to a model. */
export const ExtensionMessage = z.object({
  role: z.literal("extension"),
  kind: z.string(),
  data: z.unknown(),
  timestamp: timestamp.optional(),
});
export type ExtensionMessage = z.infer<typeof ExtensionMessage>;

export const AgentMessage = z.discriminatedUnion("role", [
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  ExtensionMessage,
]);
export type AgentMessage = z.infer<typeof AgentMessage>;
