import { getAccount } from "../machine/child-shares.ts";
import type { State } from "../machine/state/state.ts";
import { type Account, computeRemaining, getAllowance, sumReserved, sumUsed } from "./account.ts";
import { toUsd } from "./amounts.ts";
import { computeSpent, formatDollars, type Spent } from "./limits.ts";
import type { Cost } from "./usage.ts";

/** Of one thing that a loop and all below it may use. `null` is without limit. */
type BudgetPart = {
  readonly limit: number | null;
  /** By the loop itself, and by sub-agents that are over. */
  readonly used: number;
  /** Set aside for sub-agents at work. */
  readonly reserved: number;
  readonly left: number | null;
};

/** What the open loop has of its budget, with its sub-agents. */
export type Budget = {
  readonly turns: BudgetPart;
  readonly tokens: BudgetPart;
  /** What was used is `null` when a price is unknown. */
  readonly usd: Omit<BudgetPart, "used"> & { readonly used: Cost };
  /** Sub-agents that it may start, with all that those start. */
  readonly children: BudgetPart;
  /** By the time of the last event; time is not shared out. */
  readonly timeMs: { readonly limit: number | null; readonly used: number; readonly left: number | null };
};

/** Nothing while no loop is open. */
export function getLoopBudget(state: State): Budget | undefined {
  const { loop, pinned, nowMs } = state;
  if (loop === undefined || pinned === undefined) return undefined;
  return buildBudget(getAccount(state), computeSpent(loop, nowMs), pinned.limits.maxDurationMs, nowMs);
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
    left: rest[name],
  });
  return {
    turns: part("turns"),
    tokens: part("tokens"),
    usd: {
      limit: toUsd(whole.nanoUsd),
      used: toUsd(spentAmounts.nanoUsd),
      // What is set aside is a part of a limit, and so is known.
      reserved: toUsd(reserved.nanoUsd ?? 0),
      left: toUsd(rest.nanoUsd),
    },
    children: part("children"),
    timeMs: { limit: maxDurationMs, used: spent.durationMs, left: rest.timeMs },
  };
}

/** On one line; what has no limit is left out. */
export function formatBudget({ turns, tokens, usd, children, timeMs }: Budget): string {
  const asked = children.used + children.reserved > 0;
  return [
    formatBudgetPart("turns", turns, String),
    formatBudgetPart("tokens", tokens, String),
    formatBudgetPart("cost", usd, formatDollars),
    ...(asked ? [formatBudgetPart("sub-agents", children, String)] : []),
    timeMs.left === null ? "" : `time ${formatSeconds(timeMs.left)} left`,
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
