import type { ModelConfig, ThinkingLevel } from "../../schema/model.ts";
import { INTERLEAVED, thinkingFields } from "../claude-thinking.ts";
import { type CommonLevel, upToHigh } from "../effort.ts";
import type { JsonObject } from "../json.ts";
import { converseModel } from "./models.ts";

const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
} as const satisfies Record<CommonLevel, string>;

/** The part of a request that depends on thinking. */
export type ThinkingPart = {
  /** Absent where the model must choose by itself. */
  readonly maxTokens?: number;
  readonly takesTemperature: boolean;
  /** With thinking, Claude takes no tool that must be called. */
  readonly takesToolChoice: boolean;
  /** `additionalModelRequestFields` */
  readonly fields?: JsonObject;
};

/** Each family has its own field, and the API refuses those of another; where none is documented, none is sent. */
export function thinkingPart(model: ModelConfig, level: ThinkingLevel, maxTokens: number): ThinkingPart {
  const { family, claude, takesToolChoice } = converseModel(model);
  const plain = { maxTokens, takesTemperature: true, takesToolChoice };
  if (claude !== undefined) {
    const wire = thinkingFields(
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
            ? { ...fields, anthropic_beta: [INTERLEAVED] }
            : fields,
      }),
    };
  }
  if (level === "off") return plain;
  const effort = EFFORTS[upToHigh(level)];
  switch (family) {
    case "nova-2": {
      const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
      // At its highest effort Nova refuses a limit and a temperature.
      return effort === "high" ? { takesTemperature: false, takesToolChoice, fields } : { ...plain, fields };
    }
    case "gpt-oss":
      return { ...plain, fields: { reasoning_effort: effort } };
    case "openai":
      return { ...plain, fields: { reasoning: { effort } } };
    default:
      return plain;
  }
}
