import type { Usage } from "../../schema/message.ts";
import { asCount, type JsonObject } from "../json.ts";

/** `inputTokens` excludes tokens that were read from a cache or written to one. The API does not count reasoning. */
export function toUsage(usage: JsonObject | undefined): Usage {
  const input = asCount(usage?.["inputTokens"]) ?? 0;
  const output = asCount(usage?.["outputTokens"]) ?? 0;
  const cacheRead = asCount(usage?.["cacheReadInputTokens"]) ?? 0;
  const cacheWrite = asCount(usage?.["cacheWriteInputTokens"]) ?? 0;
  const totalTokens = asCount(usage?.["totalTokens"]) ?? input + output + cacheRead + cacheWrite;
  return { input, output, reasoning: 0, cacheRead, cacheWrite, totalTokens };
}
