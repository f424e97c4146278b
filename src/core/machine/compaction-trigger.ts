import type { ContextConfig } from "../../schema/context.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Usage } from "../../schema/message.ts";

// When a view is too large, as arithmetic: CTX-05, CTX-09.

/** Room for messages in the window (CTX-11). */
export function computeMessageBudget(config: ContextConfig): number {
  return Math.max(0, config.maxContextTokens - config.systemPromptTokens);
}

/** The longest answer takes no more of a window than this part of it, by our reckoning. */
const ANSWER_SHARE = 0.25;

type ModelBounds = Pick<AgentDefinition, "maxTokens"> & {
  readonly model: Pick<AgentDefinition["model"], "contextWindow" | "maxTokens">;
};

/** Tokens that a model takes as input: its window, less the longest answer, which vendors count as well. */
export function computeInputRoom({ model, maxTokens = model.maxTokens }: ModelBounds): number {
  const { contextWindow } = model;
  const answer = Math.min(maxTokens, model.maxTokens, Math.floor(contextWindow * ANSWER_SHARE));
  return contextWindow - answer;
}

/** The settings for an agent's model: its window counts where it is smaller than theirs. */
export function buildContextConfig(context: ContextConfig, asking: ModelBounds): ContextConfig {
  const room = computeInputRoom(asking);
  if (room >= context.maxContextTokens) return context;
  const share = room / context.maxContextTokens;
  const systemPromptTokens = Math.floor(context.systemPromptTokens * share);
  return { ...context, maxContextTokens: room, systemPromptTokens };
}

/**
 * The part of the window that is left before `compactAtPct`, 0 to 1; below zero when it is passed (CTX-09).
 *
 * For people; `isCompactionDue` decides.
 */
export function computeHeadroom(config: ContextConfig, currentTokens: number): number {
  const { maxContextTokens, systemPromptTokens, compaction } = config;
  return compaction.compactAtPct - systemPromptTokens / maxContextTokens - currentTokens / maxContextTokens;
}

/**
 * The most tokens of messages that do not set off a compaction; 81,000 with the defaults.
 *
 * It is also the size that a compaction aims at, so that it changes something whenever it is set off.
 */
export function computeTriggerLevel(config: ContextConfig): number {
  const { maxContextTokens, systemPromptTokens, compaction } = config;
  const share = (compaction.compactAtPct - compaction.budgetThresholdPct) * maxContextTokens;
  return Math.max(0, Math.floor(roundTokens(share - systemPromptTokens)));
}

/** Binary fractions such as 0.1 are a hair off: a millionth of a token more or less says nothing. */
function roundTokens(tokens: number): number {
  return Math.round(tokens * 1e6) / 1e6;
}

/** CTX-09: whether the headroom is below `budgetThresholdPct`. */
export function isCompactionDue(config: ContextConfig, currentTokens: number): boolean {
  return currentTokens > computeTriggerLevel(config);
}

/** The size of a context as a vendor counted it, beside our estimate of the same messages. */
export type ReportedSize = { readonly tokens: number; readonly estimated: number };

/**
 * What a vendor's answer says of the context it was given and extended.
 *
 * Nothing when the vendor reports no usage. It holds until messages leave the view: after a compaction, a pruning or a
 * revert there is nothing reported any more (CTX-05).
 *
 * @param estimated - The estimate of the view, the answer included.
 */
export function getReportedSize(usage: Usage, estimated: number): ReportedSize | undefined {
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return tokens === 0 ? undefined : { tokens, estimated };
}

/**
 * The context's size: as last reported, plus the estimate of what came later; the estimate alone without a report.
 *
 * @param estimated - The estimate of the view as it is now.
 */
export function addUnreportedTokens(estimated: number, reported?: ReportedSize): number {
  if (reported === undefined) return estimated;
  return reported.tokens + Math.max(0, estimated - reported.estimated);
}
