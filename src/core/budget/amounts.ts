import type { Delegation } from "../../schema/definition.ts";
import type { SharedLimits } from "../../schema/limits.ts";
import type { Allowance, Amounts } from "./account-state.ts";
import type { Spent } from "./limits.ts";
import { addCosts, type Cost } from "./usage.ts";

/** The parts of an allowance that are used up. */
export const COUNTED_KINDS = ["turns", "tokens", "nanoUsd", "children"] as const;
export type CountedKind = (typeof COUNTED_KINDS)[number];

export const NO_AMOUNTS: Amounts = { turns: 0, tokens: 0, nanoUsd: 0, children: 0 };

/** Adds two amounts. Associative, with `NOTHING` as identity. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return {
    turns: a.turns + b.turns,
    tokens: a.tokens + b.tokens,
    nanoUsd: addCosts(a.nanoUsd, b.nanoUsd),
    children: a.children + b.children,
  };
}

const NANO = 1_000_000_000;

export function toNanoUsd(dollars: number): number;
export function toNanoUsd(dollars: Cost): Cost;
export function toNanoUsd(dollars: Cost): Cost {
  if (dollars === null) return null;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.round(dollars * NANO));
}

export function toUsd(nanoUsd: number): number;
export function toUsd(nanoUsd: Cost): Cost;
export function toUsd(nanoUsd: Cost): Cost {
  return nanoUsd === null ? null : nanoUsd / NANO;
}

/** What an agent's own spending counts for its parent. */
export type CountedSpending = Pick<Spent, "turns" | "tokens" | "costUsd">;

/** Converts what one agent itself has spent, without the agents below it. */
export function toAmounts({ turns, tokens, costUsd }: CountedSpending): Amounts {
  return { turns, tokens, nanoUsd: toNanoUsd(costUsd), children: 0 };
}

/** Applies when a definition does not set it: the defaults of its schema. */
const DEFAULT_DELEGATION: Delegation = { maxDepth: 1, maxChildren: 100 };

/**
 * Builds what the definition of an agent allows it.
 *
 * @param startsAtMs - When its time begins.
 */
export function buildAllowance(
  limits: SharedLimits,
  delegation: Delegation | undefined,
  startsAtMs: number,
): Allowance {
  const { maxDepth, maxChildren, maxTreeTurns } = delegation ?? DEFAULT_DELEGATION;
  return {
    turns: maxTreeTurns === undefined ? limits.maxTurns : maxTreeTurns,
    tokens: limits.maxTotalTokens,
    nanoUsd: toNanoUsd(limits.maxCostUsd),
    children: maxChildren,
    deadlineMs: limits.maxDurationMs === null ? null : startsAtMs + limits.maxDurationMs,
    depth: maxDepth,
  };
}

/** Returns the smaller value of each part. */
export function minAllowance(a: Allowance, b: Allowance): Allowance {
  return {
    turns: minLimit(a.turns, b.turns),
    tokens: minLimit(a.tokens, b.tokens),
    nanoUsd: minLimit(a.nanoUsd, b.nanoUsd),
    children: minLimit(a.children, b.children),
    deadlineMs: minLimit(a.deadlineMs, b.deadlineMs),
    depth: Math.min(a.depth, b.depth),
  };
}

export function minLimit(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
