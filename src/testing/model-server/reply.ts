import { z } from "zod";

const milliseconds = z.number().nonnegative();
const tokens = z.number().int().nonnegative();

/** Counts as in Holdfast's messages: `input` excludes the cache, `output` includes `reasoning`. Absent counts are estimated. */
export const ReplyUsage = z.strictObject({
  /** Tokens that are neither read from nor written to a cache. */
  input: tokens.optional(),
  /** Tokens of the answer. */
  output: tokens.optional(),
  /** Tokens of the thinking, which are part of `output`. */
  reasoning: tokens.optional(),
  /** Tokens read from the cache. */
  cacheRead: tokens.optional(),
  /** Tokens written to the cache. */
  cacheWrite: tokens.optional(),
});
export type ReplyUsage = z.infer<typeof ReplyUsage>;

const ReplyThinking = z.strictObject({
  /** The text of the thinking. */
  text: z.string(),
  /** Derived from the text by default. */
  signature: z.string().optional(),
  /** Anthropic only: the block is encrypted, and `text` is its content. */
  redacted: z.boolean().optional(),
});

/** A call in a scripted answer. */
export const ReplyToolCall = z.strictObject({
  /** Created by the server by default. */
  id: z.string().optional(),
  /** The name of the tool. */
  name: z.string(),
  /** A string is sent unchanged, whether or not it is valid JSON. */
  arguments: z.unknown().optional(),
});
export type ReplyToolCall = z.infer<typeof ReplyToolCall>;

/** One answer of the model. The order of the blocks is: thinking, text, tool calls. */
export const Reply = z.strictObject({
  /** Absent: it tells a reply from a fault. */
  fault: z.undefined().optional(),
  /** What the model thinks first. */
  thinking: z.union([z.string(), ReplyThinking]).optional(),
  /** The text of the answer. */
  text: z.string().optional(),
  /** The calls of the answer, in order. */
  toolCalls: z.array(ReplyToolCall).optional(),
  /** The counts that the vendor reports. */
  usage: ReplyUsage.optional(),
  /** `stop`, `length` or `toolUse`; any other text is sent unchanged. By default derived from the content. */
  stop: z.string().optional(),
  /** The number of characters in one delta. */
  chunkSize: z.number().int().positive().optional(),
  /** The delay between two events of the stream. */
  chunkDelayMs: milliseconds.optional(),
  /** The delay before the head of the response. */
  firstByteDelayMs: milliseconds.optional(),
  /** The gate at which this answer waits until `release` opens it. */
  holdUntil: z.string().optional(),
  /** Where the answer waits; `middle` by default. A reply that is not streamed waits before its head. */
  holdAt: z.enum(["head", "start", "middle", "end"]).optional(),
});
export type Reply = z.infer<typeof Reply>;

export const DEFAULT_REPLY: Reply = { text: "done" };
