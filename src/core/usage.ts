import type { Usage } from "../schema/message.ts";
import type { CostRates } from "../schema/model.ts";

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};

/** Associative, with `NO_USAGE` as identity: partial sums may be merged in any grouping. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}

/**
 * Dollars, of one answer. Reasoning tokens are part of the output and not charged twice (TYP-09).
 *
 * @param longestQuestion - In tokens, where the answer took several.
 */
export function costOf(
  usage: Usage,
  { dearer, ...usual }: CostRates,
  longestQuestion = usage.input + usage.cacheRead + usage.cacheWrite,
): number {
  const rates = dearer !== undefined && longestQuestion > dearer.above ? dearer : usual;
  return (
    (usage.input * rates.input +
      usage.output * rates.output +
      usage.cacheRead * rates.cacheRead +
      usage.cacheWrite * rates.cacheWrite) /
    1_000_000
  );
}

/** How much of what went in came from a cache: 0 to 1, and 0 when nothing went in (TYP-08). */
export function cacheHitRate(usage: Usage): number {
  const processed = usage.input + usage.cacheRead + usage.cacheWrite;
  return processed === 0 ? 0 : usage.cacheRead / processed;
}
