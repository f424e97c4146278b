import type { Usage } from "../../schema/message.ts";
import { countOf, type JsonObject, objectOf } from "../json.ts";

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};

/** Here the prompt's count includes what was cached; ours does not. */
export function usageOf(usage: JsonObject): Usage {
  const prompt = countOf(usage["prompt_tokens"]) ?? 0;
  const completion = countOf(usage["completion_tokens"]) ?? 0;
  const details = objectOf(usage["prompt_tokens_details"]);
  const cached = countOf(details?.["cached_tokens"]) ?? cachedElsewhere(usage);
  const cacheRead = Math.min(cached, prompt);
  const cacheWrite = Math.min(countOf(details?.["cache_write_tokens"]) ?? 0, prompt - cacheRead);
  const thought = countOf(objectOf(usage["completion_tokens_details"])?.["reasoning_tokens"]) ?? 0;
  const total = countOf(usage["total_tokens"]);
  // xAI counts reasoning beside the completion; everyone else within it. The total tells.
  const beside = thought > 0 && total === prompt + completion + thought;
  const output = beside ? completion + thought : completion;
  return {
    input: prompt - cacheRead - cacheWrite,
    output,
    reasoning: Math.min(thought, output),
    cacheRead,
    cacheWrite,
    totalTokens: total ?? prompt + output,
  };
}

/** Together and Moonshot put it beside the totals, DeepSeek has its own name for it. */
function cachedElsewhere(usage: JsonObject): number {
  return countOf(usage["cached_tokens"]) ?? countOf(usage["prompt_cache_hit_tokens"]) ?? 0;
}
