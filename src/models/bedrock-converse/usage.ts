import type { Usage } from "../../schema/message.ts";
import { countOf, type JsonObject } from "../json.ts";

/** `inputTokens` is what was neither read from a cache nor written to one. The API does not count reasoning. */
export function usageOf(usage: JsonObject | undefined): Usage {
  const input = countOf(usage?.["inputTokens"]) ?? 0;
  const output = countOf(usage?.["outputTokens"]) ?? 0;
  const cacheRead = countOf(usage?.["cacheReadInputTokens"]) ?? 0;
  const cacheWrite = countOf(usage?.["cacheWriteInputTokens"]) ?? 0;
  const totalTokens = countOf(usage?.["totalTokens"]) ?? input + output + cacheRead + cacheWrite;
  return { input, output, reasoning: 0, cacheRead, cacheWrite, totalTokens };
}
