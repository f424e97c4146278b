import type { ThinkingLevel } from "../schema/model.ts";
import { type ClaudeModel, describeClaudeModel } from "./claude-model.ts";
import { type CommonLevel, capAtHigh } from "./effort.ts";

/** Tokens (THK-01). The budget on the wire is at least `MIN_BUDGET`. */
export const THINKING_BUDGETS = {
  minimal: 128,
  low: 512,
  medium: 2048,
  high: 8192,
} as const satisfies Record<CommonLevel, number>;

/** An unsupported effort becomes the next lower one. */
function toEffort(level: Exclude<ThinkingLevel, "off">, highest: ClaudeModel["highestEfforts"]): string {
  if (level === "minimal") return "low";
  return highest.some((effort) => effort === level) ? level : capAtHigh(level);
}

/** The beta that lets a model with a budget think between its calls too. */
export const INTERLEAVED_THINKING_BETA = "interleaved-thinking-2025-05-14";

/** The API's own minimum. */
export const MIN_BUDGET = 1024;

/** The part of `max_tokens` that is left for the answer when thinking uses its whole budget. */
export const MIN_ANSWER = 1024;

/** The fields of a request that depend on thinking. */
export type ThinkingFields = {
  readonly max_tokens: number;
  readonly thinking?:
    | { readonly type: "enabled"; readonly budget_tokens: number }
    | { readonly type: "adaptive"; readonly display: "summarized" }
    | { readonly type: "between_tools" };
  readonly output_config?: { readonly effort: string };
};

/**
 * @param maxTokens - The tokens wanted for the answer.
 * @param limit - The model's limit for thinking and answer together.
 * @param style - How thinking is requested; by the model's name by default.
 * @param betweenTools - Whether the model should think between its calls too.
 */
export function buildThinkingFields(
  modelId: string,
  level: ThinkingLevel,
  maxTokens: number,
  limit: number,
  style: ClaudeModel["thinking"] = describeClaudeModel(modelId).thinking,
  betweenTools = false,
): ThinkingFields {
  if (level === "off") {
    // The minimum for models whose thinking cannot be disabled.
    const isBetweenTools = betweenTools && style === "adaptive";
    return { max_tokens: maxTokens, ...(isBetweenTools && { thinking: { type: "between_tools" } }) };
  }
  if (style === "adaptive") {
    // The newer models omit the text of their thinking unless the request asks for a summary.
    return {
      max_tokens: maxTokens,
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: toEffort(level, describeClaudeModel(modelId).highestEfforts) },
    };
  }
  const wanted = Math.max(MIN_BUDGET, THINKING_BUDGETS[capAtHigh(level)]);
  const total = Math.min(limit, Math.max(maxTokens, wanted + MIN_ANSWER));
  const budget = Math.min(wanted, total - MIN_ANSWER);
  // There is no room for the smallest budget and an answer: an answer without thinking is better than a rejection.
  if (budget < MIN_BUDGET) return { max_tokens: maxTokens };
  return { max_tokens: total, thinking: { type: "enabled", budget_tokens: budget } };
}
