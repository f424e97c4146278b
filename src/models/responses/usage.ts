import type { Usage } from "../../schema/message.ts";
import { asCount, asObject, type JsonObject } from "../json.ts";

/** Converts the counters. The vendor's input count includes cache reads and writes; Holdfast's does not. */
export function toUsage(usage: JsonObject): Usage {
  const all = asCount(usage["input_tokens"]) ?? 0;
  const output = asCount(usage["output_tokens"]) ?? 0;
  const details = asObject(usage["input_tokens_details"]);
  const cacheRead = Math.min(asCount(details?.["cached_tokens"]) ?? 0, all);
  const cacheWrite = Math.min(asCount(details?.["cache_write_tokens"]) ?? 0, all - cacheRead);
  const thought = asCount(asObject(usage["output_tokens_details"])?.["reasoning_tokens"]) ?? 0;
  return {
    input: all - cacheRead - cacheWrite,
    output,
    reasoning: Math.min(thought, output),
    cacheRead,
    cacheWrite,
    totalTokens: asCount(usage["total_tokens"]) ?? all + output,
  };
}

export const NO_USAGE: Usage = toUsage({});
