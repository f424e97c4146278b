import type { CostRates } from "../schema/model.ts";

/** Whether what a model answers costs anything. */
export function hasRates({ dearer: _, ...rates }: CostRates): boolean {
  return Object.values(rates).some((rate) => rate > 0);
}
