import type { ContextConfig } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Usage } from "../../schema/message.ts";
import type { ReportedSize } from "./state/compaction.ts";

// When a view is too large, as arithmetic: CTX-05, CTX-09.

/** The largest part of a window that we count for the longest answer. */
const ANSWER_SHARE = 0.25;

type ModelBounds = Pick<AgentDefinition, "maxTokens"> & {
  readonly model: Pick<AgentDefinition["model"], "contextWindow" | "maxTokens">;
};

/** Computes the tokens that a model takes as input: its window less the longest answer, which vendors count as well. */
export function computeInputRoom({ model, maxTokens = model.maxTokens }: ModelBounds): number {
  const { contextWindow } = model;
  const answer = Math.min(maxTokens, model.maxTokens, Math.floor(contextWindow * ANSWER_SHARE));
  return contextWindow - answer;
}

/** Builds the settings for an agent's model, whose window counts when it is smaller than theirs. */
export function buildContextConfig(context: ContextConfig, asking: ModelBounds): ContextConfig {
  const room = computeInputRoom(asking);
  if (room >= context.maxContextTokens) return context;
  const share = room / context.maxContextTokens;
  const systemPromptTokens = Math.floor(context.systemPromptTokens * share);
  return { ...context, maxContextTokens: room, systemPromptTokens };
}

/**
 * Computes the most message tokens that do not trigger a compaction (CTX-09): with them, the part of the window that is
 * left before `compactAtPct` is `budgetThresholdPct`. 81,000 with the defaults.
 *
 * A compaction aims at the same size, so it always changes something when it is triggered.
 */
export function computeTriggerLevel(config: ContextConfig): number {
  const { maxContextTokens, systemPromptTokens, compaction } = config;
  const share = (compaction.compactAtPct - compaction.budgetThresholdPct) * maxContextTokens;
  return Math.max(0, Math.floor(roundTokens(share - systemPromptTokens)));
}

/** Rounds away the error of binary fractions such as 0.1: a millionth of a token is not significant. */
function roundTokens(tokens: number): number {
  return Math.round(tokens * 1e6) / 1e6;
}

/**
 * Returns the size that a vendor's answer reports for the context that it received and extended.
 *
 * Nothing when the vendor reports no usage. The size is valid until messages leave the view: a compaction, a prune or a
 * revert invalidates it (CTX-05).
 *
 * @param estimated - The estimate of the view, including the answer.
 */
export function getReportedSize(usage: Usage, estimated: number): ReportedSize | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return tokens === 0 ? undefined : { tokens, estimated };
}

/**
 * Computes the context's size: the last reported size plus the estimate of what was added since, or the estimate alone.
 *
 * @param estimated - The estimate of the current view.
 */
export function addUnreportedTokens(estimated: number, reported?: ReportedSize): number {
  if (reported === undefined) return estimated;
  return reported.tokens + Math.max(0, estimated - reported.estimated);
}
