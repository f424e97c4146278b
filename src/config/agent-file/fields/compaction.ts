import { z } from "zod";
import { CompactionConfig, ContextConfig } from "../../../schema/context.ts";
import { type Field, field, said, wholeFrom } from "../field.ts";

// [compaction], or [context] with [context.compaction] in it (CFG-21, X-31).

const CONTEXT = ContextConfig.parse({});
const COMPACTION = CompactionConfig.parse({});
const LOOPS = 3;

const of = (name: string, to: string, schema: z.ZodType, options: object = {}) =>
  field(`compaction.${name}`, `context.compaction.${to}`, schema, {
    also: [`context.compaction.${name}`],
    ...options,
  });
const around = (name: string, to: string, schema: z.ZodType) =>
  field(`compaction.${name}`, `context.${to}`, schema, { also: [`context.${name}`] });
const tiered = (name: string, to: string, schema: z.ZodType) =>
  field(`compaction.tiered.${name}`, `context.${to}`, schema, { also: [`context.${name}`] });

export const COMPACTION_FIELDS: readonly Field[] = [
  around(
    "max_context_tokens",
    "maxContextTokens",
    said(
      wholeFrom(1),
      "The context window, at most that of the model. Compaction is off unless this is said.",
    ),
  ),
  around(
    "system_prompt_tokens",
    "systemPromptTokens",
    said(wholeFrom(0), "Set aside for the system prompt.", CONTEXT.systemPromptTokens),
  ),
  of(
    "compact_at_pct",
    "compactAtPct",
    said(
      z.number().positive().max(1),
      "The part of the window that may fill, 0 to 1.",
      COMPACTION.compactAtPct,
    ),
  ),
  of(
    "compact_budget_threshold_pct",
    "budgetThresholdPct",
    said(
      z.number().min(0).lt(1),
      "Compaction begins when less than this part of the window is left.",
      COMPACTION.budgetThresholdPct,
    ),
  ),
  of(
    "compaction_scope",
    "scope",
    said(
      z.union([wholeFrom(0), z.literal("token-budget")]),
      "How many loops before the newest one a compacted view tells of; token-budget: as many as fit the window.",
      LOOPS,
    ),
    { read: scope, write: scopeWord },
  ),
  of(
    "keep_first_turns",
    "keepFirstTurns",
    said(wholeFrom(0), "Turns that stay as they are, from the beginning.", COMPACTION.keepFirstTurns),
  ),
  of(
    "keep_recent_turns",
    "keepRecentTurns",
    said(wholeFrom(0), "Turns that stay, at the end.", COMPACTION.keepRecentTurns),
  ),
  of(
    "max_summary_tokens",
    "maxSummaryTokens",
    said(wholeFrom(0), "Of one whole summary.", COMPACTION.maxSummaryTokens),
  ),
  of(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    said(wholeFrom(0), "Lines that an output keeps, in the turns at the end.", COMPACTION.toolOutputMaxLines),
  ),
  of("focus_message", "focusMessage", said(z.string(), "What a summary written by a model should dwell on.")),
  of(
    "strategy",
    "strategy",
    said(
      z.string().min(1),
      "`block`, `summary` (asks the agent's own model), `tiered`, or the name of a strategy of the worker's.",
      COMPACTION.strategy,
    ),
  ),
  tiered(
    "keep_first",
    "keepFirst",
    said(wholeFrom(0), "Of the tiered strategy: messages from the beginning.", CONTEXT.keepFirst),
  ),
  tiered(
    "keep_recent",
    "keepRecent",
    said(wholeFrom(0), "Of the tiered strategy: messages from the end.", CONTEXT.keepRecent),
  ),
  tiered(
    "tool_output_max_lines",
    "toolOutputMaxLines",
    said(wholeFrom(0), "Of the tiered strategy: lines that an output keeps.", CONTEXT.toolOutputMaxLines),
  ),
];

function scope(value: unknown): unknown {
  if (typeof value === "number") return { type: "fixed", loops: value };
  return value === "token-budget" ? { type: value } : value;
}

function scopeWord(value: unknown): unknown {
  const { type, loops } = value as { type: string; loops?: number };
  return type === "fixed" ? loops : type;
}
