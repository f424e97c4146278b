import { type Cost, sumCosts } from "../../core/budget/usage.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";

/** Sums the cost of ended loops. An interrupted loop has no recorded cost, so that the sum is unknown. */
export function sumRecordedCost(loops: readonly Pick<LoopRecord, "costUsd">[]): Cost {
  return sumCosts(loops.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd])));
}
