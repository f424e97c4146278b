import { z } from "zod";
import { CompactionConfig, ContextConfig } from "../../../schema/context.ts";
import { defineField, describeKey, type Field, integerFrom } from "../define-field.ts";

// [compaction], or [context] with [context.compaction] in it (CFG-21, X-31).

const CONTEXT = ContextConfig.parse({});
const COMPACTION = CompactionConfig.parse({});
const LOOPS = 3;

const defineCompactionField = (name: string, to: string, schema: z.ZodType, options: object = {}) =>
  defineField(`compaction.${name}`, `context.compaction.${to}`, schema, {
    aliases: [`context.compaction.${name}`],
    ...options,
  });
const defineLoopField = (name: string, to: string, schema: z.ZodType) =>
  defineField(`compaction.${name}`, `context.${to}`, schema, { aliases: [`context.${name}`] });
const defineTieredField = (name: string, to: string, schema: z.ZodType) =>
  defineField(`compaction.tiered.${name}`, `context.${to}`, schema, { aliases: [`context.${name}`] });

export const COMPACTION_FIELDS: readonly Field[] = [
  defineLoopField(
    "max_context_tokens",
    "maxContextTokens",
    describeKey(
      integerFrom(1),
      "The context window, at most that of the model. Compaction is off unless this is set.",
    ),
  ),
  defineLoopField(
    "system_prompt_tokens",
    "systemPromptTokens",
    describeKey(integerFrom(0), "Tokens reserved for the system prompt.", CONTEXT.systemPromptTokens),
  ),
  defineCompactionField(
    "compact_at_pct",
    "compactAtPct",
    describeKey(
      z.number().positive().max(1),
      "Compaction begins when more than this fraction of the window is used, 0 to 1.",
      COMPACTION.compactAtPct,
    ),
  ),
  defineCompactionField(
    "compact_budget_threshold_pct",
    "budgetThresholdPct",
    describeKey(
      z.number().min(0).lt(1),
      "Compaction begins when less than this fraction of the window remains.",
      COMPACTION.budgetThresholdPct,
    ),
  ),
  defineCompactionField(
    "compaction_scope",
    "scope",
    describeKey(
      z.union([integerFrom(0), z.literal("token-budget")]),
      "The number of loops before the newest one that a compacted view covers; token-budget: as many as fit the window.",
      LOOPS,
    ),
    { read: parseScope, write: formatScope },
  ),
  defineCompactionField(
    "keep_first_turns",
    "keepFirstTurns",
    describeKey(
      integerFrom(0),
      "The number of turns at the beginning that stay as they are.",
      COMPACTION.keepFirstTurns,
    ),
  ),
  defineCompactionField(
    "keep_recent_turns",
    "keepRecentTurns",
    describeKey(
      integerFrom(0),
      "The number of turns at the end that stay as they are.",
      COMPACTION.keepRecentTurns,
    ),
  ),
  defineCompactionField(
    "max_summary_tokens",
    "maxSummaryTokens",
    describeKey(integerFrom(0), "The maximum number of tokens of one summary.", COMPACTION.maxSummaryTokens),
  ),
  defineCompactionField(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    describeKey(
      integerFrom(0),
      "The number of lines to which tool outputs are shortened, in the turns at the end.",
      COMPACTION.toolOutputMaxLines,
    ),
  ),
  defineCompactionField(
    "focus_message",
    "focusMessage",
    describeKey(z.string(), "What a summary that a model writes focuses on."),
  ),
  defineCompactionField(
    "strategy",
    "strategy",
    describeKey(
      z.string().min(1),
      "`block`, `summary` (the agent's own model writes it), `tiered`, or the name of a strategy that the worker has registered.",
      COMPACTION.strategy,
    ),
  ),
  defineTieredField(
    "keep_first",
    "keepFirst",
    describeKey(
      integerFrom(0),
      "Tiered strategy only: the number of messages at the beginning that stay.",
      CONTEXT.keepFirst,
    ),
  ),
  defineTieredField(
    "keep_recent",
    "keepRecent",
    describeKey(
      integerFrom(0),
      "Tiered strategy only: the number of messages at the end that stay.",
      CONTEXT.keepRecent,
    ),
  ),
  defineTieredField(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    describeKey(
      integerFrom(0),
      "Tiered strategy only: the number of lines to which tool outputs are shortened.",
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
