import { z } from "zod";
import { CompactionConfig, ContextConfig } from "../../../schema/context.ts";
import { defineField, describeKey, type Field, integerFrom } from "../define-field.ts";

// [compaction], or [context] with [context.compaction] in it (CFG-21, X-31).

const CONTEXT = ContextConfig.parse({});
const COMPACTION = CompactionConfig.parse({});
const LOOPS = 3;

const defineCompactionField = (name: string, to: string, schema: z.ZodType, options: object = {}) =>
  defineField(`compaction.${name}`, `context.compaction.${to}`, schema, {
    also: [`context.compaction.${name}`],
    ...options,
  });
const defineLoopField = (name: string, to: string, schema: z.ZodType) =>
  defineField(`compaction.${name}`, `context.${to}`, schema, { also: [`context.${name}`] });
const defineTieredField = (name: string, to: string, schema: z.ZodType) =>
  defineField(`compaction.tiered.${name}`, `context.${to}`, schema, { also: [`context.${name}`] });

export const COMPACTION_FIELDS: readonly Field[] = [
  defineLoopField(
    "max_context_tokens",
    "maxContextTokens",
    describeKey(
      integerFrom(1),
      "The context window, at most that of the model. Compaction is off unless this is said.",
    ),
  ),
  defineLoopField(
    "system_prompt_tokens",
    "systemPromptTokens",
    describeKey(integerFrom(0), "Set aside for the system prompt.", CONTEXT.systemPromptTokens),
  ),
  defineCompactionField(
    "compact_at_pct",
    "compactAtPct",
    describeKey(
      z.number().positive().max(1),
      "The part of the window that may fill, 0 to 1.",
      COMPACTION.compactAtPct,
    ),
  ),
  defineCompactionField(
    "compact_budget_threshold_pct",
    "budgetThresholdPct",
    describeKey(
      z.number().min(0).lt(1),
      "Compaction begins when less than this part of the window is left.",
      COMPACTION.budgetThresholdPct,
    ),
  ),
  defineCompactionField(
    "compaction_scope",
    "scope",
    describeKey(
      z.union([integerFrom(0), z.literal("token-budget")]),
      "How many loops before the newest one a compacted view tells of; token-budget: as many as fit the window.",
      LOOPS,
    ),
    { read: parseScope, write: formatScope },
  ),
  defineCompactionField(
    "keep_first_turns",
    "keepFirstTurns",
    describeKey(
      integerFrom(0),
      "Turns that stay as they are, from the beginning.",
      COMPACTION.keepFirstTurns,
    ),
  ),
  defineCompactionField(
    "keep_recent_turns",
    "keepRecentTurns",
    describeKey(integerFrom(0), "Turns that stay, at the end.", COMPACTION.keepRecentTurns),
  ),
  defineCompactionField(
    "max_summary_tokens",
    "maxSummaryTokens",
    describeKey(integerFrom(0), "Of one whole summary.", COMPACTION.maxSummaryTokens),
  ),
  defineCompactionField(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    describeKey(
      integerFrom(0),
      "Lines that an output keeps, in the turns at the end.",
      COMPACTION.toolOutputMaxLines,
    ),
  ),
  defineCompactionField(
    "focus_message",
    "focusMessage",
    describeKey(z.string(), "What a summary written by a model should dwell on."),
  ),
  defineCompactionField(
    "strategy",
    "strategy",
    describeKey(
      z.string().min(1),
      "`block`, `summary` (asks the agent's own model), `tiered`, or the name of a strategy of the worker's.",
      COMPACTION.strategy,
    ),
  ),
  defineTieredField(
    "keep_first",
    "keepFirst",
    describeKey(integerFrom(0), "Of the tiered strategy: messages from the beginning.", CONTEXT.keepFirst),
  ),
  defineTieredField(
    "keep_recent",
    "keepRecent",
    describeKey(integerFrom(0), "Of the tiered strategy: messages from the end.", CONTEXT.keepRecent),
  ),
  defineTieredField(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    describeKey(
      integerFrom(0),
      "Of the tiered strategy: lines that an output keeps.",
      CONTEXT.toolOutputMaxLines,
    ),
  ),
];

function parseScope(value: unknown): unknown {
  if (typeof value === "number") return { type: "fixed", loops: value };
  return value === "token-budget" ? { type: value } : value;
}

function formatScope(value: unknown): unknown {
  const { type, loops } = value as { type: string; loops?: number };
  return type === "fixed" ? loops : type;
}
