import { type Cost, sumCosts } from "../../core/budget/usage.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";

/** What loops have cost, of those that are over. A loop that was cut off has left no sum: its cost is unknown. */
export function sumRecordedCost(loops: readonly Pick<LoopRecord, "costUsd">[]): Cost {
  return sumCosts(loops.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd])));
}
