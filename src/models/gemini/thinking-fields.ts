import type { ModelConfig, ThinkingLevel } from "../../schema/model.ts";
import { type CommonLevel, capAtHigh } from "../effort.ts";
import { THINKING_LEVELS, type ThinkingLevelName, type ThinkingSupport } from "./gemini-model.ts";
import type { WireThinking } from "./wire.ts";

/** Tokens, before what a model takes at least and at most (THK-01). */
const BUDGETS = {
  minimal: 128,
  low: 512,
  medium: 2048,
  high: 8192,
} as const satisfies Record<CommonLevel, number>;

/** Lets the model choose its budget. */
const AUTOMATIC = -1;

/** What is left of the limit for the answer itself when thinking takes its whole budget. */
const MIN_ANSWER = 1024;

export type ThinkingFields = {
  readonly maxOutputTokens: number;
  readonly thinkingConfig?: WireThinking;
};

/**
 * A level or a budget, never both: the API refuses two. Thoughts count against the limit of the answer.
 *
 * @param maxTokens - Wanted for the answer.
 * @param limit - What the model allows for thinking and answer together.
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
  const { min, max, mayRest: canBeOff } = thinking;
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
  // No room for the smallest budget beside an answer: better an answer than a refusal.
  if (budget < min) return { maxOutputTokens: maxTokens, thinkingConfig: minimalThinking };
  return { maxOutputTokens: total, thinkingConfig: { includeThoughts: true, thinkingBudget: budget } };
}

/** The nearest that the model knows, upwards first. From Gemini 3 on thinking cannot be off: the least, then. */
function selectSupportedLevel(
  level: ThinkingLevel,
  levels: readonly [ThinkingLevelName, ...ThinkingLevelName[]],
): ThinkingLevelName {
  if (level === "off") return levels[0];
  const wanted = THINKING_LEVELS.indexOf(capAtHigh(level).toUpperCase() as ThinkingLevelName);
  return levels.find((one) => THINKING_LEVELS.indexOf(one) >= wanted) ?? (levels.at(-1) as ThinkingLevelName);
}
