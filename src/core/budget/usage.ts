import type { Usage } from "../../schema/message.ts";
import type { CostRates } from "../../schema/model.ts";

export const NO_USAGE: Usage = {
  input: 0,
  output: 0,
  reasoning: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
};

/** Adds two usages. Associative, with `NO_USAGE` as identity: partial sums may be merged in any grouping. */
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

/** Dollars, or `null` when a price is unknown: unknown is not free. */
export type Cost = number | null;

/** Adds two costs. Associative, with 0 as identity. A sum with an unknown part is unknown, so it never looks complete. */
export function addCosts(a: Cost, b: Cost): Cost {
  return a === null || b === null ? null : a + b;
}

export function sumCosts(costs: readonly Cost[]): Cost {
  return costs.reduce<Cost>(addCosts, 0);
}

/**
 * Compares costs from the lowest to the highest. An unknown cost comes last, so it is never the cheapest; two unknown
 * costs are equal.
 */
export function compareCosts(a: Cost, b: Cost): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a - b;
}

/**
 * Computes the dollars of one answer. Reasoning tokens are part of the output and not charged twice (TYP-09).
 *
 * @param longestQuestion - In tokens, when the answer took several requests.
 */
export function computeCost(usage: Usage, rates: CostRates, longestQuestion?: number): number;
/** Returns `null` when the model's prices are unknown. */
export function computeCost(usage: Usage, rates: CostRates | null, longestQuestion?: number): Cost;
export function computeCost(
  usage: Usage,
  prices: CostRates | null,
  longestQuestion = usage.input + usage.cacheRead + usage.cacheWrite,
): Cost {
  if (prices === null) return null;
  const { dearer, ...usual } = prices;
  const rates = dearer !== undefined && longestQuestion > dearer.above ? dearer : usual;
  return (
    (usage.input * rates.input +
      usage.output * rates.output +
      usage.cacheRead * rates.cacheRead +
      usage.cacheWrite * rates.cacheWrite) /
    1_000_000
  );
}

/** Computes the part of the input that came from a cache: 0 to 1, and 0 without input (TYP-08). */
export function computeCacheHitRate(usage: Usage): number {
  const processed = usage.input + usage.cacheRead + usage.cacheWrite;
  return processed === 0 ? 0 : usage.cacheRead / processed;
}
