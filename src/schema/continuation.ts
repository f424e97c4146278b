import { z } from "zod";
import { LoopLimits } from "./limits.ts";

/** A loop that continues the existing conversation without a new prompt (LOOP-04, LOOP-06). */
export const Continuation = z.strictObject({
  kind: z.union([
    z.object({ type: z.literal("default") }),
    z.object({ type: z.literal("rerun"), tag: z.string() }),
    z.object({ type: z.literal("branch"), tag: z.string() }),
    /** Requests no answer: the context is made smaller, and the loop ends (CMP-13). */
    z.object({ type: z.literal("compaction") }),
  ]),
  focus: z
    .string()
    .max(2048)
    .optional()
    .describe("For a compaction: what matters most, for the model that writes the summary."),
  at: z
    .strictObject({ branch: z.string(), position: z.number().int().nonnegative().optional() })
    .optional()
    .describe(
      "After this many entries of a branch, or at its end; by default the session's head. A fork if later entries exist.",
    ),
  limits: LoopLimits.optional().describe("Limits that replace the definition's for this loop."),
});
export type Continuation = z.infer<typeof Continuation>;
