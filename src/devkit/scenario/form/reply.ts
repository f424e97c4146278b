import { z } from "zod";
import { ReplyUsage } from "../../../testing/model-server/reply.ts";

const milliseconds = z.number().int().nonnegative();

const ScenarioToolCall = z.strictObject({
  /** `call_{reply}_{index}` by default. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  name: z.string(),
  /** A string is sent unchanged, whether or not it is JSON. */
  arguments: z.unknown().optional(),
});

/** The response to one request: an answer, or one of `error`, `cut`, `breaksOff`. */
export const ScenarioReply = z
  .strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    toolCalls: z.array(ScenarioToolCall).optional(),
    /** By default derived from the content. `guardRail`: the vendor blocks the answer. */
    stopReason: z.enum(["stop", "length", "toolUse", "guardRail"]).optional(),
    /** Token counts; 10 input and 5 output tokens by default. */
    usage: ReplyUsage.optional(),
    /** The delay until the first byte, by the run's clock. */
    takesMs: milliseconds.optional(),
    /** An HTTP error instead of an answer. */
    error: z
      .strictObject({
        status: z.number().int().min(400).max(599),
        /** By default the vendor's own text for the status. */
        body: z.string().optional(),
        /** The delay that the vendor requests. */
        retryAfterMs: milliseconds.optional(),
      })
      .optional(),
    /** The stream ends in the middle. */
    cut: z.literal(true).optional(),
    /** The vendor's error event in the middle of the stream. */
    breaksOff: z.strictObject({ type: z.string(), message: z.string() }).optional(),
  })
  .superRefine((reply, context) => {
    const ways = (["error", "cut", "breaksOff"] as const).filter((way) => reply[way] !== undefined);
    if (ways.length > 1) context.addIssue({ code: "custom", message: `only one of ${ways.join(", ")}` });
    const says = reply.text !== undefined || reply.toolCalls !== undefined || reply.thinking !== undefined;
    if (reply.error !== undefined && says) {
      context.addIssue({
        code: "custom",
        path: ["error"],
        message: "an HTTP error cannot have an answer too",
      });
    }
  });
export type ScenarioReply = z.infer<typeof ScenarioReply>;
