import type { ModelConfig, ThinkingLevel } from "../../schema/model.ts";
import { type CommonLevel, capAtHigh } from "../effort.ts";
import { THINKING_LEVELS, type ThinkingLevelName, type ThinkingSupport } from "./gemini-model.ts";
import type { WireThinking } from "./wire.ts";

/** Tokens, before the model's own minimum and maximum (THK-01). */
const BUDGETS = {
  minimal: 128,
  low: 512,
  medium: 2048,
  high: 8192,
} as const satisfies Record<CommonLevel, number>;

/** Lets the model choose its budget. */
const AUTOMATIC = -1;

/** The part of the limit that is left for the answer when thinking uses its whole budget. */
const MIN_ANSWER = 1024;

export type ThinkingFields = {
  readonly maxOutputTokens: number;
  readonly thinkingConfig?: WireThinking;
};

/**
 * Builds a level or a budget, never both: the API rejects two. Thinking counts toward the answer's limit.
 *
 * @param maxTokens - The tokens wanted for the answer.
 * @param limit - The model's limit for thinking and answer together.
 */
export function buildThinkingFields(
  thinking: ThinkingSupport | undefined,
  style: ModelConfig["thinkingStyle"],
  level: ThinkingLevel,
  maxTokens: number,
  limit: number,
): ThinkingFields {
  if (thinking === undefined) return { maxOutputTokens: maxTokens };
  if (thinking.by === "level") {
    const thinkingLevel = selectSupportedLevel(level, thinking.levels);
    return {
      maxOutputTokens: maxTokens,
      thinkingConfig: { ...(level !== "off" && { includeThoughts: true }), thinkingLevel },
    };
  }
  const { min, max, canBeOff } = thinking;
  const minimalThinking = { thinkingBudget: canBeOff ? 0 : min };
  if (level === "off") return { maxOutputTokens: maxTokens, thinkingConfig: minimalThinking };
  if (style === "adaptive") {
    return {
      maxOutputTokens: maxTokens,
      thinkingConfig: { includeThoughts: true, thinkingBudget: AUTOMATIC },
    };
  }
  const wanted = Math.min(max, Math.max(min, BUDGETS[capAtHigh(level)]));
  const total = Math.min(limit, Math.max(maxTokens, wanted + MIN_ANSWER));
  const budget = Math.min(wanted, total - MIN_ANSWER);
  // There is no room for the smallest budget and an answer: an answer without thinking is better than a rejection.
  if (budget < min) return { maxOutputTokens: maxTokens, thinkingConfig: minimalThinking };
  return { maxOutputTokens: total, thinkingConfig: { includeThoughts: true, thinkingBudget: budget } };
}

/** Selects the nearest supported level, upward first. From Gemini 3 on thinking cannot be off: then the lowest. */
function selectSupportedLevel(
  level: ThinkingLevel,
  levels: readonly [ThinkingLevelName, ...ThinkingLevelName[]],
): ThinkingLevelName {
  if (level === "off") return levels[0];
  const wanted = THINKING_LEVELS.indexOf(capAtHigh(level).toUpperCase() as ThinkingLevelName);
  return levels.find((one) => THINKING_LEVELS.indexOf(one) >= wanted) ?? (levels.at(-1) as ThinkingLevelName);
}
