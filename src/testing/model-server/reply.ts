import { z } from "zod";

const milliseconds = z.number().nonnegative();
const tokens = z.number().int().nonnegative();

/** Counts as in Holdfast's messages: `input` excludes the cache, `output` includes `reasoning`. Absent counts are estimated. */
export const ReplyUsage = z.strictObject({
  input: tokens.optional(),
  output: tokens.optional(),
  reasoning: tokens.optional(),
  cacheRead: tokens.optional(),
  cacheWrite: tokens.optional(),
});
export type ReplyUsage = z.infer<typeof ReplyUsage>;

const ReplyThinking = z.strictObject({
  text: z.string(),
  /** Derived from the text by default. */
  signature: z.string().optional(),
  /** Anthropic only: the block is encrypted, and `text` is its content. */
  redacted: z.boolean().optional(),
});

export const ReplyToolCall = z.strictObject({
  /** Created by the server by default. */
  id: z.string().optional(),
  name: z.string(),
  /** A string is sent unchanged, whether or not it is valid JSON. */
  arguments: z.unknown().optional(),
});
export type ReplyToolCall = z.infer<typeof ReplyToolCall>;

/** One answer of the model. The order of the blocks is: thinking, text, tool calls. */
export const Reply = z.strictObject({
  fault: z.undefined().optional(),
  thinking: z.union([z.string(), ReplyThinking]).optional(),
  text: z.string().optional(),
  toolCalls: z.array(ReplyToolCall).optional(),
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
