import { z } from "zod";
import { ReplyUsage } from "../../../testing/model-server/reply.ts";

const milliseconds = z.number().int().nonnegative();

const ScenarioToolCall = z.strictObject({
  /** `call_{reply}_{index}` when absent. */
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  name: z.string(),
  /** A string is sent as it stands, JSON or not. */
  arguments: z.unknown().optional(),
});

/** What one request to the vendor gets: an answer, or one of `error`, `cut`, `breaksOff`. */
export const ScenarioReply = z
  .strictObject({
    text: z.string().optional(),
    thinking: z.string().optional(),
    toolCalls: z.array(ScenarioToolCall).optional(),
    /** By default what the content says. `guardRail`: the vendor refuses. */
    stopReason: z.enum(["stop", "length", "toolUse", "guardRail"]).optional(),
    /** Tokens; 10 in and 5 out where not said. */
    usage: ReplyUsage.optional(),
    /** Until the first byte, by the run's clock. */
    takesMs: milliseconds.optional(),
    /** An HTTP error instead of an answer. */
    error: z
      .strictObject({
        status: z.number().int().min(400).max(599),
        /** The vendor's own words for the status when absent. */
        body: z.string().optional(),
        /** The delay that the vendor asks for. */
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
      context.addIssue({ code: "custom", path: ["error"], message: "an HTTP error has no answer beside it" });
    }
  });
export type ScenarioReply = z.infer<typeof ScenarioReply>;
