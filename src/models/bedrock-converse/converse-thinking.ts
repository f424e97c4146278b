import type { JsonObject } from "../../platform/text/json.ts";
import type { ModelConfig, ThinkingLevel } from "../../schema/model.ts";
import { buildThinkingFields, INTERLEAVED_THINKING_BETA } from "../claude-thinking-fields.ts";
import { type CommonLevel, capAtHigh } from "../effort.ts";
import { describeConverseModel } from "./converse-model.ts";

const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
} as const satisfies Record<CommonLevel, string>;

/** The fields of a request that depend on thinking. */
export type ConverseThinking = {
  /** Absent if the model must choose by itself. */
  readonly maxTokens?: number;
  readonly takesTemperature: boolean;
  /** With thinking, Claude rejects a forced tool. */
  readonly takesToolChoice: boolean;
  /** `additionalModelRequestFields` */
  readonly fields?: JsonObject;
};

/** Each family has its own field, and the API rejects those of another. Undocumented families get none. */
export function buildConverseThinking(
  model: ModelConfig,
  level: ThinkingLevel,
  maxTokens: number,
): ConverseThinking {
  const { family, claude, takesToolChoice } = describeConverseModel(model);
  const withoutThinking = { maxTokens, takesTemperature: true, takesToolChoice };
  if (claude !== undefined) {
    const wire = buildThinkingFields(
      model.id,
      level,
      maxTokens,
      model.maxTokens,
      claude.thinking,
      model.thinkingBetweenTools,
    );
    const { max_tokens, ...fields } = wire;
    const thinks = fields.thinking !== undefined;
    return {
      maxTokens: max_tokens,
      takesTemperature: claude.takesTemperature && !thinks,
      takesToolChoice: takesToolChoice && !thinks,
      ...(thinks && {
        fields:
          model.thinkingBetweenTools && fields.thinking?.type === "enabled"
            ? { ...fields, anthropic_beta: [INTERLEAVED_THINKING_BETA] }
            : fields,
      }),
    };
  }
  if (level === "off") return withoutThinking;
  const effort = EFFORTS[capAtHigh(level)];
  switch (family) {
    case "nova-2": {
      const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
      // At its highest effort Nova rejects a token limit and a temperature.
      return effort === "high"
        ? { takesTemperature: false, takesToolChoice, fields }
        : { ...withoutThinking, fields };
    }
    case "gpt-oss":
      return { ...withoutThinking, fields: { reasoning_effort: effort } };
    case "openai":
      return { ...withoutThinking, fields: { reasoning: { effort } } };
    default:
      return withoutThinking;
  }
}
