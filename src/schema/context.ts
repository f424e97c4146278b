import { z } from "zod";

// How much of a conversation a model is shown, and what is done when it grows past that. Defaults: CTX-07, CTX-08.

/** How many loops before the newest one a compacted view still tells of. */
export const CompactionScope = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("fixed"), loops: z.number().int().nonnegative() }),
  /** As many as have, whole, no more tokens than the context window. */
  z.strictObject({ type: z.literal("token-budget") }),
]);
export type CompactionScope = z.infer<typeof CompactionScope>;

/** The strategies that need no registration. */
export const BUILT_IN_STRATEGIES = ["block", "summary", "tiered"] as const;

/** When a view is made smaller, and how. */
export const CompactionConfig = z.strictObject({
  /** The part of the context window that messages and system prompt may fill, 0 to 1. */
  compactAtPct: z.number().positive().max(1).default(0.9),
  /** Compaction begins when less than this part of the window is left below `compactAtPct`. */
  budgetThresholdPct: z.number().min(0).lt(1).default(0.05),
  scope: CompactionScope.default({ type: "fixed", loops: 3 }),
  /** Turns of the newest loop that stay as they are, from its beginning. */
  keepFirstTurns: z.number().int().nonnegative().default(2),
  /** Turns of the newest loop that stay, with their tool outputs cut, at its end. */
  keepRecentTurns: z.number().int().nonnegative().default(10),
  /** Of one whole summary, not of a turn in it. */
  maxSummaryTokens: z.number().int().nonnegative().default(2000),
  toolOutputMaxLines: z.number().int().nonnegative().default(50),
  /** What a summary written by a model should dwell on. Changes neither triggers nor counts (CMP-14). */
  focusMessage: z.string().optional(),
  /**
   * `block` writes a line a turn; `summary` asks the agent's own model for notes, and pays for them; `tiered` counts
   * messages instead of turns. Any other name is that of a strategy which the worker has registered; of the fields above
   * it is given `focusMessage`, and a budget.
   */
  strategy: z.string().min(1).default("block"),
});
export type CompactionConfig = z.infer<typeof CompactionConfig>;

/** The context window and its share for messages. */
export const ContextConfig = z
  .strictObject({
    /** The model's own window, less its longest answer, counts where that is smaller. */
    maxContextTokens: z.number().int().positive().default(100_000),
    /** Set aside for the system prompt. */
    systemPromptTokens: z.number().int().nonnegative().default(4000),
    /** The next three are the tiered strategy's; the block strategy has its own in `compaction`. */
    toolOutputMaxLines: z.number().int().nonnegative().default(50),
    /** Messages, from the end. */
    keepRecent: z.number().int().nonnegative().default(10),
    /** Messages, from the beginning. */
    keepFirst: z.number().int().nonnegative().default(2),
    compaction: CompactionConfig.default(() => CompactionConfig.parse({})),
  })
  .refine(hasRoom, {
    error:
      "compactAtPct less budgetThresholdPct of maxContextTokens must be more than systemPromptTokens; otherwise there is no room for messages",
    path: ["compaction"],
  });
export type ContextConfig = z.infer<typeof ContextConfig>;

function hasRoom(config: {
  maxContextTokens: number;
  systemPromptTokens: number;
  compaction: CompactionConfig;
}): boolean {
  const { compactAtPct, budgetThresholdPct } = config.compaction;
  return (compactAtPct - budgetThresholdPct) * config.maxContextTokens > config.systemPromptTokens + 1;
}

/** Entries from `from` up to, not including, `to`, and how a model is to see them. */
export type WantedSection = { readonly from: number; readonly to: number; readonly as: WantedForm };

export type WantedForm =
  | "whole"
  /** Tool results keep this many lines of each text. */
  | { readonly cut: number }
  /** One message of these words stands in for all entries. */
  | { readonly summary: string };
