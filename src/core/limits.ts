import type { Limits } from "../schema/definition.ts";
import type { OpenLoop } from "./loop-state.ts";
import type { Cost } from "./usage.ts";

/** What people are shown where a cost is unknown. */
export const UNKNOWN_COST = "—";

/** What one loop has spent so far. */
export type Spent = {
  readonly turns: number;
  /** Input and output of all turns (LOOP-19). */
  readonly tokens: number;
  readonly durationMs: number;
  readonly costUsd: Cost;
};

/** What a loop has spent itself, without its sub-agents. */
export function spentBy(loop: OpenLoop, nowMs: number): Spent {
  return {
    turns: loop.turn,
    tokens: loop.usage.input + loop.usage.output,
    durationMs: nowMs - loop.startedAtMs - (loop.waitedMs ?? 0),
    costUsd: loop.costUsd,
  };
}

/** Why no further turn may begin, in the words of the sources (LIM-03), or nothing. */
export function limitReached(limits: Limits, spent: Spent): string | undefined {
  if (limits.maxTurns !== null && spent.turns >= limits.maxTurns) {
    return `Max turns reached (${spent.turns}/${limits.maxTurns})`;
  }
  if (limits.maxTotalTokens !== null && spent.tokens >= limits.maxTotalTokens) {
    return `Max tokens reached (${spent.tokens}/${limits.maxTotalTokens})`;
  }
  if (limits.maxDurationMs !== null && spent.durationMs >= limits.maxDurationMs) {
    return `Max duration reached (${seconds(spent.durationMs)}/${seconds(limits.maxDurationMs)})`;
  }
  if (limits.maxCostUsd !== null && spent.costUsd === null) {
    return `Max cost cannot be kept: what was spent is unknown (${dollars(null)}/${dollars(limits.maxCostUsd)})`;
  }
  if (limits.maxCostUsd !== null && (spent.costUsd ?? 0) >= limits.maxCostUsd) {
    return `Max cost reached (${dollars(spent.costUsd)}/${dollars(limits.maxCostUsd)})`;
  }
  return undefined;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)}s`;
}

/** Four places: a single turn often costs less than a cent. An unknown amount is a dash, never a number. */
export function dollars(amount: Cost): string {
  return amount === null ? UNKNOWN_COST : `$${amount.toFixed(4)}`;
}
