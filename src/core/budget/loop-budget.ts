import { getAccount } from "../machine/child-shares.ts";
import { requirePinned } from "../machine/phase.ts";
import type { State } from "../machine/state/state.ts";
import { computeRemaining, getAllowance, sumReserved, sumUsed } from "./account.ts";
import type { Account } from "./account-state.ts";
import { toUsd } from "./amounts.ts";
import { computeSpent, formatDollars, type Spent } from "./limits.ts";
import type { Cost } from "./usage.ts";

/** One amount that a loop and everything below it may use. `null` is without limit. */
export type BudgetPart = {
  /** How much there may be altogether. */
  readonly limit: number | null;
  /** By the loop itself and by ended sub-agents. */
  readonly used: number;
  /** Reserved for running sub-agents. */
  readonly reserved: number;
  /** What is neither used nor reserved. */
  readonly remaining: number | null;
};

/** The budget of the open loop and its sub-agents. */
export type Budget = {
  /** The turns. */
  readonly turns: BudgetPart;
  /** The tokens, input and output together. */
  readonly tokens: BudgetPart;
  /** US dollars. */
  readonly usd: Omit<BudgetPart, "used"> & {
    /** As of the other amounts; `null` when a price is unknown. */
    readonly used: Cost;
  };
  /** Sub-agents that it may start, including all that those start. */
  readonly children: BudgetPart;
  /** At the time of the last event; time is not divided. */
  readonly timeMs: {
    /** How long the loop may take. */
    readonly limit: number | null;
    /** How long it has taken. */
    readonly used: number;
    /** How long it may still take. */
    readonly remaining: number | null;
  };
};

/** Returns the budget, or nothing while no loop is open. */
export function getLoopBudget(state: State): Budget | undefined {
  const { loop, nowMs } = state;
  if (loop === undefined) return undefined;
  const { maxDurationMs } = requirePinned(state).limits;
  return buildBudget(getAccount(state), computeSpent(loop, nowMs), maxDurationMs, nowMs);
}

export function buildBudget(
  account: Account,
  spent: Spent,
  maxDurationMs: number | null,
  nowMs: number,
): Budget {
  const [whole, spentAmounts, reserved, rest] = [
    getAllowance(account),
    sumUsed(account, spent),
    sumReserved(account),
    computeRemaining(account, spent, nowMs),
  ];
  const part = (name: "turns" | "tokens" | "children"): BudgetPart => ({
    limit: whole[name],
    used: spentAmounts[name],
    reserved: reserved[name],
    remaining: rest[name],
  });
  return {
    turns: part("turns"),
    tokens: part("tokens"),
    usd: {
      limit: toUsd(whole.nanoUsd),
      used: toUsd(spentAmounts.nanoUsd),
      // A reservation is a part of a limit, and therefore known.
      reserved: toUsd(reserved.nanoUsd ?? 0),
      remaining: toUsd(rest.nanoUsd),
    },
    children: part("children"),
    timeMs: { limit: maxDurationMs, used: spent.durationMs, remaining: rest.timeMs },
  };
}

/** Formats the budget on one line, without the parts that have no limit. */
export function formatBudget({ turns, tokens, usd, children, timeMs }: Budget): string {
  const asked = children.used + children.reserved > 0;
  return [
    formatBudgetPart("turns", turns, String),
    formatBudgetPart("tokens", tokens, String),
    formatBudgetPart("cost", usd, formatDollars),
    ...(asked ? [formatBudgetPart("sub-agents", children, String)] : []),
    timeMs.remaining === null ? "" : `time ${formatSeconds(timeMs.remaining)} left`,
  ]
    .filter((text) => text !== "")
    .join(", ");
}

function formatBudgetPart(
  name: string,
  { limit, used: spent, reserved }: Omit<BudgetPart, "used"> & { readonly used: Cost },
  say: (n: Cost) => string,
): string {
  if (limit === null) return "";
  const reservedText = reserved === 0 ? "" : ` + ${say(reserved)} set aside`;
  return `${name} ${say(spent)}${reservedText} of ${say(limit)}`;
}

function formatSeconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
