import { createHash } from "node:crypto";
import type { CallIdRule } from "../conversation.ts";

// Requirements of single vendors beyond the flags of the configuration.

/** OpenAI's own limit for the id of a call. */
const MAX_ID_CHARS = 40;

const isOpenAiId = (id: string) => id.length <= MAX_ID_CHARS && /^[a-zA-Z0-9_-]+$/.test(id);

const OPENAI_IDS: CallIdRule = {
  isValid: isOpenAiId,
  toValid: (id, attempt) => {
    const clean = id.replace(/[^a-zA-Z0-9_-]/g, "_") || "call";
    const suffix = attempt === 0 ? "" : `_${attempt + 1}`;
    return clean.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
  },
};

const OTHER_IDS: CallIdRule = {
  ...OPENAI_IDS,
  // A vendor's own id is sent back unchanged: some hide a signature in it.
  isValid: (id, own) => (own ? id !== "" : isOpenAiId(id)),
};

/** Mistral accepts exactly nine letters and digits. */
const MISTRAL_IDS: CallIdRule = {
  isValid: (id, own) => (own ? id !== "" : /^[a-zA-Z0-9]{9}$/.test(id)),
  toValid: (id, attempt) => createHash("sha256").update(`${attempt} ${id}`).digest("hex").slice(0, 9),
};

export function selectIdRule(provider: string): CallIdRule {
  if (provider === "mistral") return MISTRAL_IDS;
  // OpenAI's other protocol creates longer ids, under the same name.
  return provider === "openai" ? OPENAI_IDS : OTHER_IDS;
}

/**
 * DeepSeek answers 400 when an answer with tool calls is sent back without the reasoning that led to it
 * (https://api-docs.deepseek.com/guides/thinking_mode).
 */
export function requiresReasoningBack(provider: string): boolean {
  return provider === "deepseek";
}

/**
 * From gpt-5.4 on OpenAI rejects functions in chat completions while the model reasons, and the newer models reason
 * by default. Use the Responses protocol to have both.
 */
export function forbidsReasoningWithTools(provider: string, modelId: string): boolean {
  return provider === "openai" && /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])/.test(modelId);
}

/** OpenAI's reasoning models reject any temperature but their default. */
export function takesTemperature(provider: string, modelId: string, effort: string | undefined): boolean {
  if (provider !== "openai" || effort === "none") return true;
  return effort === undefined && !/^(?:o\d|gpt-(?:5|[6-9]))/.test(modelId);
}
