import { z } from "zod";
import { childLoopId, loopId, sessionId, toolCallId, toolName, turnIndex } from "./common-fields.ts";
import { SandboxReport } from "./sandbox.ts";

// The parts of a conversation. Field names are camelCase; the readers of foreign files also accept the
// snake_case of the sources.

/** Text, from a user, a model or a tool. */
export const TextContent = z.object({
  type: z.literal("text"),
  text: z.string().describe("The text; Markdown if the model writes it."),
  signature: z.string().optional().describe("An opaque token of the vendor, as for thinking."),
});
export type TextContent = z.infer<typeof TextContent>;

/** An image, from a user or a tool. */
export const ImageContent = z.object({
  type: z.literal("image"),
  data: z.string().describe("The bytes in base64, without a data: prefix."),
  mimeType: z.string().describe("The media type, such as `image/png`."),
  name: z.string().optional().describe("The name of its file, if it has one."),
});
export type ImageContent = z.infer<typeof ImageContent>;

/** A file that is not an image: a PDF document, or a text. */
export const FileContent = z.object({
  type: z.literal("file"),
  data: z.string().describe("The bytes in base64, without a data: prefix; of text, its UTF-8."),
  mimeType: z
    .string()
    .describe("The media type: `application/pdf`, or that of a text, such as `text/markdown`."),
  name: z.string().describe("The name of the file, without its folder."),
  pages: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("The number of pages of a PDF document, if it is known."),
});
export type FileContent = z.infer<typeof FileContent>;

/** What a model thinks before it answers. */
export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  thinking: z.string().describe("The text of the thinking, or the vendor's summary of it."),
  signature: z
    .string()
    .optional()
    .describe("An opaque token of the vendor. It is sent back to that vendor unmodified, and to no other."),
  redacted: z
    .boolean()
    .optional()
    .describe("Whether the vendor sent the block encrypted; `signature` then holds the encrypted block."),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

/** A call of a tool in an answer. */
export const ToolCallContent = z.object({
  type: z.literal("toolCall"),
  id: z
    .string()
    .describe("The id of the call, chosen by the vendor; unique within a turn, not across turns."),
  vendorId: z
    .string()
    .optional()
    .describe(
      "The vendor's own id when it is too long to be used everywhere; `id` is then a short replacement.",
    ),
  name: z.string().describe("The name of the tool."),
  arguments: z.unknown().describe("The arguments that the model sent; the raw text when they were not JSON."),
  signature: z.string().optional().describe("An opaque token of the vendor, as for thinking."),
});
export type ToolCallContent = z.infer<typeof ToolCallContent>;

/**
 * A block of the vendor's own in an answer, such as a search that the vendor ran and its result. It is sent back to that
 * vendor unmodified, and to no other; nothing else uses it.
 */
export const VendorContent = z.object({
  type: z.literal("vendor"),
  kind: z.string().describe("The vendor's name for it: `server_tool_use`, `web_search_call`, …"),
  data: z.unknown().describe("The complete block as JSON."),
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
  input: z
    .number()
    .int()
    .nonnegative()
    .describe("Tokens that were neither read from nor written to a cache."),
  output: z.number().int().nonnegative().describe("Tokens of the answer, thinking included."),
  reasoning: z
    .number()
    .int()
    .nonnegative()
    .default(0)
    .describe("Tokens of the thinking, a part of `output`; 0 when the vendor does not report them."),
  cacheRead: z.number().int().nonnegative().describe("Tokens that the vendor read from its cache."),
  cacheWrite: z.number().int().nonnegative().describe("Tokens that the vendor wrote to its cache."),
  totalTokens: z
    .number()
    .int()
    .nonnegative()
    .describe("All tokens, as the vendor reports them, or the sum of the parts."),
});
export type Usage = z.infer<typeof Usage>;

/** Where a message belongs: the loop in which it was made, and the 0-based turn within the loop. */
export const TurnId = z.object({ loopId, turnIndex });
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
  content: z.array(Content).describe("The parts, in order."),
  timestamp: timestamp.describe(
    "When it was sent: Unix milliseconds. The order in a view comes from the position, never from this.",
  ),
  metadata: MessageMetadata.optional().describe(
    "What the sender notes about the message for programs; never sent to a model.",
  ),
  turnId: TurnId.optional().describe("Where the message belongs; absent before it has joined a loop."),
});
export type UserMessage = z.infer<typeof UserMessage>;

/** An answer of a model. */
export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.array(Content).describe("The parts, in the order in which the model wrote them."),
  stopReason: StopReason.describe("Why the model stopped."),
  model: z.string().describe("The vendor's name for the model."),
  provider: z.string().describe("The vendor."),
  usage: Usage.describe("The tokens of the request and its answer."),
  timestamp: timestamp.describe("When it was made: Unix milliseconds."),
  errorMessage: z.string().optional().describe("What failed, for an answer with the stop reason `error`."),
  responseId: z.string().optional().describe("The vendor's id of this answer, when it provides one."),
  serviceTier: z
    .string()
    .optional()
    .describe("The tier at which the vendor served it, when the vendor reports one that is not its default."),
  longestQuestion: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe(
      "The tokens of the longest of several requests for this answer: prices depend on the length of one request.",
    ),
  storedFrom: z
    .object({ session: sessionId, timestamp: timestamp.describe("When it was made: Unix milliseconds.") })
    .optional()
    .describe("Where the answer was paid, if it was taken from the store of answers."),
  turnId: TurnId.optional().describe("Where the message belongs."),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

/** The result of one call. It follows the answer that made the call. */
export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  toolCallId,
  toolName,
  content: z.array(Content).describe("The parts that the model reads."),
  isError: z.boolean().describe("Whether the call failed, could not run, or was denied."),
  details: z.unknown().optional().describe("Data for users and programs; never sent to a model."),
  sandbox: SandboxReport.optional().describe(
    "Where the processes of the call have run; absent if it started none. Never sent to a model.",
  ),
  timestamp: timestamp.describe("When it was made: Unix milliseconds."),
  childLoopId,
  turnId: TurnId.optional().describe("Where the message belongs."),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

/** A message that a model can read. */
export const Message = z.discriminatedUnion("role", [UserMessage, AssistantMessage, ToolResultMessage]);
export type Message = z.infer<typeof Message>;

/** What an application stores in the conversation for itself. Never sent to a model. */
export const ExtensionMessage = z.object({
  role: z.literal("extension"),
  kind: z.string().describe("What it is, in the application's own words."),
  data: z.unknown().describe("The value: any JSON."),
  timestamp: timestamp.optional().describe("When it was made: Unix milliseconds."),
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
