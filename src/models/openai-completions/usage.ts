import type { Usage } from "../../schema/message.ts";
import { asCount, asObject, type JsonObject } from "../json.ts";

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};

/** Here the prompt's count includes what was cached; ours does not. */
export function toUsage(usage: JsonObject): Usage {
  const prompt = asCount(usage["prompt_tokens"]) ?? 0;
  const completion = asCount(usage["completion_tokens"]) ?? 0;
  const details = asObject(usage["prompt_tokens_details"]);
  const cached = asCount(details?.["cached_tokens"]) ?? countCachedTokens(usage);
  const cacheRead = Math.min(cached, prompt);
  const written = asCount(details?.["cache_write_tokens"]) ?? asCount(usage["cache_creation_input_tokens"]);
  const cacheWrite = Math.min(written ?? 0, prompt - cacheRead);
  const thought = asCount(asObject(usage["completion_tokens_details"])?.["reasoning_tokens"]) ?? 0;
  const total = asCount(usage["total_tokens"]);
  // xAI counts reasoning beside the completion; everyone else within it. The total tells.
  const isReasoningSeparate = thought > 0 && total === prompt + completion + thought;
  const output = isReasoningSeparate ? completion + thought : completion;
  return {
    input: prompt - cacheRead - cacheWrite,
    output,
    reasoning: Math.min(thought, output),
    cacheRead,
    cacheWrite,
    totalTokens: total ?? prompt + output,
  };
}

/**
 * Names of others, beside the totals: Together's and Moonshot's, DeepSeek's, Mistral's, and LiteLLM's for what it has
 * of Anthropic.
 */
const CACHED_COUNTERS = [
  "cached_tokens",
  "prompt_cache_hit_tokens",
  "num_cached_tokens",
  "cache_read_input_tokens",
];

function countCachedTokens(usage: JsonObject): number {
  return CACHED_COUNTERS.map((name) => asCount(usage[name])).find((count) => count !== undefined) ?? 0;
}
