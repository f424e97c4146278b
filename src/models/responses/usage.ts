import type { Usage } from "../../schema/message.ts";
import { countOf, type JsonObject, objectOf } from "../json.ts";

/** Here the input's count includes what was read from and written to the cache; ours does not. */
export function usageOf(usage: JsonObject): Usage {
  const all = countOf(usage["input_tokens"]) ?? 0;
  const output = countOf(usage["output_tokens"]) ?? 0;
  const details = objectOf(usage["input_tokens_details"]);
  const cacheRead = Math.min(countOf(details?.["cached_tokens"]) ?? 0, all);
  const cacheWrite = Math.min(countOf(details?.["cache_write_tokens"]) ?? 0, all - cacheRead);
  const thought = countOf(objectOf(usage["output_tokens_details"])?.["reasoning_tokens"]) ?? 0;
  return {
    input: all - cacheRead - cacheWrite,
    output,
    reasoning: Math.min(thought, output),
    cacheRead,
    cacheWrite,
    totalTokens: countOf(usage["total_tokens"]) ?? all + output,
  };
}

export const NO_USAGE: Usage = usageOf({});
