import { z } from "zod";

const milliseconds = z.number().nonnegative();
const tokens = z.number().int().nonnegative();

/** As in our messages: `input` excludes the cache, `reasoning` is a part of `output`. Absent counts are estimated. */
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
  /** Made from the text when absent. */
  signature: z.string().optional(),
  /** Anthropic only: the block comes encrypted, `text` is what it holds. */
  redacted: z.boolean().optional(),
});

export const ReplyToolCall = z.strictObject({
  /** Made by the server when absent. */
  id: z.string().optional(),
  name: z.string(),
  /** A string is sent as it stands, valid JSON or not. */
  arguments: z.unknown().optional(),
});
export type ReplyToolCall = z.infer<typeof ReplyToolCall>;

/** One answer of the model. Blocks come in this order: thinking, text, tool calls. */
export const Reply = z.strictObject({
  fault: z.undefined().optional(),
  thinking: z.union([z.string(), ReplyThinking]).optional(),
  text: z.string().optional(),
  toolCalls: z.array(ReplyToolCall).optional(),
  usage: ReplyUsage.optional(),
  /** `stop`, `length`, `toolUse`; any other word is sent as it stands. By default what the content says. */
  stop: z.string().optional(),
  /** Characters that one delta carries. */
  chunkSize: z.number().int().positive().optional(),
  /** Between two events of the stream. */
  chunkDelayMs: milliseconds.optional(),
  /** Before the head of the response. */
  firstByteDelayMs: milliseconds.optional(),
  /** The gate that this answer waits at until `release` opens it. */
  holdUntil: z.string().optional(),
  /** Where it waits; `middle` unless said. A reply that is not streamed waits before its head. */
  holdAt: z.enum(["head", "start", "middle", "end"]).optional(),
});
export type Reply = z.infer<typeof Reply>;

export const DEFAULT_REPLY: Reply = { text: "done" };
