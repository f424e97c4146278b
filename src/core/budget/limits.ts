import type { Limits } from "../../schema/limits.ts";
import type { OpenLoop } from "../machine/state/loop-state.ts";
import type { Cost } from "./usage.ts";

/** What users see in place of an unknown cost. */
export const UNKNOWN_COST = "—";

/** What has been spent so far of what sub-agents and jobs share. */
export type Spent = {
  readonly turns: number;
  /** Input and output of all turns (LOOP-19). */
  readonly tokens: number;
  readonly durationMs: number;
  readonly costUsd: Cost;
};

/** What one loop has spent so far. */
export type LoopSpending = Spent & {
  /** Calls of tools, also denied ones. */
  readonly toolCalls: number;
};

/** What a job itself spends. */
export const NO_SPENDING: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };

/** Computes what a loop itself has spent, without its sub-agents. */
export function computeSpent(loop: OpenLoop, nowMs: number): LoopSpending {
  return {
    turns: loop.turn,
    tokens: loop.usage.input + loop.usage.output,
    durationMs: nowMs - loop.startedAtMs - (loop.waitedMs ?? 0),
    costUsd: loop.costUsd,
    toolCalls: loop.toolCalls ?? 0,
  };
}

type Limit = {
  /** The name in `Max … reached` (LIM-03). */
  readonly name: string;
  /** `null` when it is unknown. */
  readonly getSpent: (spent: LoopSpending) => number | null;
  readonly format: (amount: number | null) => string;
};

/** Every limit, in the order of the checks. Sub-agents and jobs share some of them: see budget/amounts.ts. */
const LIMITS: { readonly [Name in keyof Limits]: Limit } = {
  maxTurns: { name: "turns", getSpent: ({ turns }) => turns, format: String },
  maxTotalTokens: { name: "tokens", getSpent: ({ tokens }) => tokens, format: String },
  maxDurationMs: {
    name: "duration",
    getSpent: ({ durationMs }) => durationMs,
    format: (ms) => formatSeconds(ms ?? 0),
  },
  maxCostUsd: { name: "cost", getSpent: ({ costUsd }) => costUsd, format: formatDollars },
  maxToolCalls: { name: "tool calls", getSpent: ({ toolCalls }) => toolCalls, format: String },
};

export const LIMIT_NAMES = Object.keys(LIMITS) as readonly (keyof Limits)[];

export const NO_LIMITS = Object.fromEntries(LIMIT_NAMES.map((name) => [name, null])) as {
  readonly [Name in keyof Limits]: null;
};

/** Fills omitted limits with `null`, which is without limit. */
export function fillLimits(
  given: { readonly [Name in keyof Limits]?: number | null | undefined } = {},
): Limits {
  return Object.fromEntries(LIMIT_NAMES.map((name) => [name, given[name] ?? null])) as Limits;
}

/** Returns why no further turn may begin, in the wording of the sources (LIM-03), or nothing. */
export function findReachedLimit(limits: Limits, spent: LoopSpending): string | undefined {
  for (const limitName of LIMIT_NAMES) {
    // A definition that an older release has pinned lacks limits that were added since.
    const limit = limits[limitName] ?? null;
    if (limit === null) continue;
    const { name, getSpent: spentOf, format: show } = LIMITS[limitName];
    const amount = spentOf(spent);
    const both = `(${show(amount)}/${show(limit)})`;
    if (amount === null) return `Max ${name} cannot be enforced: the amount spent is unknown ${both}`;
    if (amount >= limit) return `Max ${name} reached ${both}`;
  }
  return undefined;
}

function formatSeconds(ms: number): string {
  return `${Math.floor(ms / 1000)}s`;
}

/** Formats four decimal places: a single turn often costs less than a cent. An unknown amount is a dash, never a number. */
export function formatDollars(amount: Cost): string {
  return amount === null ? UNKNOWN_COST : `$${amount.toFixed(4)}`;
}
