import { z } from "zod";

// How much of a conversation a model sees, and what happens when it grows beyond that. Defaults: CTX-07, CTX-08.

/** How many loops before the newest one a compacted view includes. */
export const CompactionScope = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("fixed"),
    loops: z.number().int().nonnegative().describe("The number of loops."),
  }),
  /** As many loops as fit, uncompacted, into the context window. */
  z.strictObject({ type: z.literal("token-budget") }),
]);
export type CompactionScope = z.infer<typeof CompactionScope>;

/** The translation of contexts that the vendors' adapters do by themselves. */
export const DEFAULT_TRANSLATION = "default";

/** The strategies that need no registration. */
export const BUILT_IN_STRATEGIES = ["block", "summary", "tiered"] as const;

/** When and how a view is made smaller. */
export const CompactionConfig = z.strictObject({
  compactAtPct: z
    .number()
    .positive()
    .max(1)
    .default(0.9)
    .describe("The part of the context window that messages and system prompt may fill, 0 to 1."),
  budgetThresholdPct: z
    .number()
    .min(0)
    .lt(1)
    .default(0.05)
    .describe("Compaction begins when less than this part of the window is left below `compactAtPct`."),
  scope: CompactionScope.default({ type: "fixed", loops: 3 }).describe(
    "How many loops before the newest one the compacted view includes.",
  ),
  keepFirstTurns: z
    .number()
    .int()
    .nonnegative()
    .default(2)
    .describe("Turns at the beginning of the newest loop that stay unchanged."),
  keepRecentTurns: z
    .number()
    .int()
    .nonnegative()
    .default(10)
    .describe("Turns at the end of the newest loop that stay, with their tool outputs cut."),
  maxSummaryTokens: z
    .number()
    .int()
    .nonnegative()
    .default(2000)
    .describe("The maximum tokens of one whole summary, not of a turn in it."),
  toolOutputMaxLines: z
    .number()
    .int()
    .nonnegative()
    .default(50)
    .describe("The lines that stay of each tool output in compacted turns."),
  focusMessage: z
    .string()
    .optional()
    .describe("What a summary written by a model should focus on. Affects neither triggers nor counts."),
  strategy: z
    .string()
    .min(1)
    .default("block")
    .describe(
      "`block` writes a line a turn; `summary` calls the agent's own model for notes, at its cost; `tiered` counts messages instead of turns. Any other name is that of a strategy which the worker has registered; of the fields above it receives only `focusMessage`, and a budget.",
    ),
});
export type CompactionConfig = z.infer<typeof CompactionConfig>;
/** The input from an author: fields with a default are optional. */
export type CompactionConfigInput = z.input<typeof CompactionConfig>;

/** The context window and its share for messages. */
export const ContextConfig = z
  .strictObject({
    maxContextTokens: z
      .number()
      .int()
      .positive()
      .default(100_000)
      .describe(
        "The context window in tokens. The model's own window, less its longest answer, applies when it is smaller.",
      ),
    systemPromptTokens: z
      .number()
      .int()
      .nonnegative()
      .default(4000)
      .describe("The tokens that are reserved for the system prompt."),
    toolOutputMaxLines: z
      .number()
      .int()
      .nonnegative()
      .default(50)
      .describe("Tiered strategy only: the lines that stay of each tool output."),
    keepRecent: z
      .number()
      .int()
      .nonnegative()
      .default(10)
      .describe("Tiered strategy only: the number of messages at the end that stay."),
    keepFirst: z
      .number()
      .int()
      .nonnegative()
      .default(2)
      .describe("Tiered strategy only: the number of messages at the beginning that stay."),
    compaction: CompactionConfig.default(() => CompactionConfig.parse({})).describe(
      "When and how a view is made smaller.",
    ),
  })
  .refine(hasRoom, {
    error:
      "compactAtPct less budgetThresholdPct of maxContextTokens must be more than systemPromptTokens; otherwise there is no room for messages",
    path: ["compaction"],
  });
export type ContextConfig = z.infer<typeof ContextConfig>;
/** The input from an author: fields with a default are optional. */
export type ContextConfigInput = z.input<typeof ContextConfig>;

function hasRoom(config: {
  maxContextTokens: number;
  systemPromptTokens: number;
  compaction: CompactionConfig;
}): boolean {
  const { compactAtPct, budgetThresholdPct } = config.compaction;
  return (compactAtPct - budgetThresholdPct) * config.maxContextTokens > config.systemPromptTokens + 1;
}

/** The entries from `from` (inclusive) to `to` (exclusive), and the form in which a model sees them. */
export type WantedSection = {
  /** The position of the first entry. */
  readonly from: number;
  /** The position after the last entry. */
  readonly to: number;
  /** How the model sees them. */
  readonly form: WantedForm;
};

/** How a model sees a section of a conversation. */
export type WantedForm =
  | "whole"
  | {
      /** Tool results keep this many lines of each text. */
      readonly maxLines: number;
    }
  | {
      /** One message with this text replaces all entries. */
      readonly summary: string;
    };
