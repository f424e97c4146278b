import type { ModelConfig, OpenAiCompat } from "../../schema/model.ts";

/** The behaviour of most servers, including local ones. */
const GENERIC_COMPAT: OpenAiCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: false,
  supportsUsageInStreaming: true,
  maxTokensField: "max_tokens",
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  thinkingFormat: "openai",
};

/** Presets by the name of the provider (PROV-15). */
export const COMPAT_PRESETS = {
  openai: {
    ...GENERIC_COMPAT,
    supportsStore: true,
    supportsDeveloperRole: true,
    supportsReasoningEffort: true,
    maxTokensField: "max_completion_tokens",
  },
  xai: { ...GENERIC_COMPAT, thinkingFormat: "xai" },
  groq: GENERIC_COMPAT,
  cerebras: GENERIC_COMPAT,
  openrouter: { ...GENERIC_COMPAT, supportsDeveloperRole: true, thinkingFormat: "openrouter" },
  mistral: GENERIC_COMPAT,
  deepseek: { ...GENERIC_COMPAT, maxTokensField: "max_completion_tokens" },
  local: GENERIC_COMPAT,
} as const satisfies Record<string, OpenAiCompat>;

/** Returns the configured flags, else the preset of the provider's name, else the generic ones. */
export function resolveCompat(model: ModelConfig): OpenAiCompat {
  if (model.compat !== undefined) return model.compat;
  const { provider } = model;
  return Object.hasOwn(COMPAT_PRESETS, provider)
    ? COMPAT_PRESETS[provider as keyof typeof COMPAT_PRESETS]
    : GENERIC_COMPAT;
}
