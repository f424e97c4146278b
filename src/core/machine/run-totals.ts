import { addCosts, NO_USAGE } from "../budget/usage.ts";
import { sumChildrenCost } from "./children-summary.ts";
import type { RunTotals } from "./state/run-totals.ts";
import type { State } from "./state/state.ts";

/** Returns what the loops of a run that has ended have used. */
export function buildRunTotals(state: State): RunTotals {
  const { usage = NO_USAGE, costUsd, turns, durationMs = 0 } = state.totals;
  return { usage, costUsd: addCosts(costUsd, sumChildrenCost(state)), turns, durationMs };
}
