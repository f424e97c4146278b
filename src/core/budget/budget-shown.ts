import { accountOf } from "../machine/shares.ts";
import type { State } from "../machine/state/state.ts";
import { type Account, allowance, left, setAside, used } from "./account.ts";
import { toUsd } from "./amounts.ts";
import { dollars, type Spent, spentBy } from "./limits.ts";
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
export function budgetOf(state: State): Budget | undefined {
  const { loop, pinned, nowMs } = state;
  if (loop === undefined || pinned === undefined) return undefined;
  return budgetIn(accountOf(state), spentBy(loop, nowMs), pinned.limits.maxDurationMs, nowMs);
}

export function budgetIn(
  account: Account,
  spent: Spent,
  maxDurationMs: number | null,
  nowMs: number,
): Budget {
  const [whole, gone, aside, rest] = [
    allowance(account),
    used(account, spent),
    setAside(account),
    left(account, spent, nowMs),
  ];
  const part = (name: "turns" | "tokens" | "children"): BudgetPart => ({
    limit: whole[name],
    used: gone[name],
    reserved: aside[name],
    left: rest[name],
  });
  return {
    turns: part("turns"),
    tokens: part("tokens"),
    usd: {
      limit: toUsd(whole.nanoUsd),
      used: toUsd(gone.nanoUsd),
      // What is set aside is a part of a limit, and so is known.
      reserved: toUsd(aside.nanoUsd ?? 0),
      left: toUsd(rest.nanoUsd),
    },
    children: part("children"),
    timeMs: { limit: maxDurationMs, used: spent.durationMs, left: rest.timeMs },
  };
}

/** On one line; what has no limit is left out. */
export function budgetLine({ turns, tokens, usd, children, timeMs }: Budget): string {
  const asked = children.used + children.reserved > 0;
  return [
    inWords("turns", turns, String),
    inWords("tokens", tokens, String),
    inWords("cost", usd, dollars),
    ...(asked ? [inWords("sub-agents", children, String)] : []),
    timeMs.left === null ? "" : `time ${seconds(timeMs.left)} left`,
  ]
    .filter((words) => words !== "")
    .join(", ");
}

function inWords(
  name: string,
  { limit, used: gone, reserved }: Omit<BudgetPart, "used"> & { readonly used: Cost },
  say: (n: Cost) => string,
): string {
  if (limit === null) return "";
  const aside = reserved === 0 ? "" : ` + ${say(reserved)} set aside`;
  return `${name} ${say(gone)}${aside} of ${say(limit)}`;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1000)} s`;
}
