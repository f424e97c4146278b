import { asObject, type JsonObject } from "../../platform/text/json.ts";
import type { Usage } from "../../schema/message.ts";
import { asCount } from "../json.ts";

/** Converts the counters. The vendor's prompt count includes cached tokens; Holdfast's does not. */
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
  // xAI counts reasoning in addition to the completion, all others as part of it. The total shows it.
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
 * Other names of the counter: those of Together and Moonshot, DeepSeek, Mistral, and LiteLLM (for Anthropic's
 * counters).
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
