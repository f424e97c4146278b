import type { ModelConfig, OpenAiCompat } from "../../schema/model.ts";

/** What most servers do, local ones among them. */
const GENERIC: OpenAiCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: false,
  supportsUsageInStreaming: true,
  maxTokensField: "max_tokens",
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  thinkingFormat: "openai",
};

/** By the name of the provider (PROV-15). */
export const COMPAT_PRESETS = {
  openai: {
    ...GENERIC,
    supportsStore: true,
    supportsDeveloperRole: true,
    supportsReasoningEffort: true,
    maxTokensField: "max_completion_tokens",
  },
  xai: { ...GENERIC, thinkingFormat: "xai" },
  groq: GENERIC,
  cerebras: GENERIC,
  openrouter: { ...GENERIC, supportsDeveloperRole: true, thinkingFormat: "openrouter" },
  mistral: GENERIC,
  deepseek: { ...GENERIC, maxTokensField: "max_completion_tokens" },
  local: GENERIC,
} as const satisfies Record<string, OpenAiCompat>;

/** What the configuration says, or the preset of the provider's name, or what most servers do. */
export function compatOf(model: ModelConfig): OpenAiCompat {
  if (model.compat !== undefined) return model.compat;
  const { provider } = model;
  return Object.hasOwn(COMPAT_PRESETS, provider)
    ? COMPAT_PRESETS[provider as keyof typeof COMPAT_PRESETS]
    : GENERIC;
}
