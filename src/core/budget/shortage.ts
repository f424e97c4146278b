import { computeRemaining, getAllowance, sumReserved, sumUsed } from "./account.ts";
import type { Account } from "./account-state.ts";
import { type CountedKind, toUsd } from "./amounts.ts";
import { formatDollars, type Spent } from "./limits.ts";

/** What is short. */
export type Shortage = CountedKind | "depth" | "time";

const NAMES = {
  turns: "turns",
  tokens: "tokens",
  nanoUsd: "dollars",
  children: "sub-agents",
} satisfies Record<CountedKind, string>;

/** Formats why a child may not begin, for the model that requested it. */
export function formatShortage(shortage: Shortage, account: Account, spent: Spent, nowMs: number): string {
  switch (shortage) {
    case "depth":
      return "Not started: this agent may have no sub-agents (maxDepth). Do the task yourself.";
    case "time":
      return "Not started: this agent has no time left.";
    default: {
      const rest = formatAmount(shortage, computeRemaining(account, spent, nowMs)[shortage] ?? 0);
      return `Not started: too few ${NAMES[shortage]} are left for one more agent, ${rest} of ${formatTally(account, spent, shortage)}. ${formatAdvice(account)}`;
    }
  }
}

/**
 * Returns why an agent may begin no further step although its own limits allow it: its parent's reservation, or what is
 * spent and reserved below it, is used up. Nothing while something of everything is left.
 *
 * Call it after `findReachedLimit`, which checks the agent's own limits and own spending.
 */
export function findExhaustedBudget(account: Account, spent: Spent, nowMs: number): string | undefined {
  const rest = computeRemaining(account, spent, nowMs);
  for (const part of ["turns", "tokens", "nanoUsd"] as const) {
    if (part === "nanoUsd" && rest.nanoUsd === 0 && sumUsed(account, spent).nanoUsd === null) {
      return `Budget of dollars cannot be enforced: the amount spent of ${formatAmount(part, getAllowance(account).nanoUsd)} is unknown`;
    }
    if (rest[part] === 0)
      return `Budget of ${NAMES[part]} reached: none left of ${formatTally(account, spent, part)}`;
  }
  return rest.timeMs === 0 ? "Budget of time reached: the deadline has passed" : undefined;
}

/** Returns whether the reason of an end is that what others have granted in dollars is used up. */
export function isDollarBudgetReason(reason: string): boolean {
  return reason.startsWith(`Budget of ${NAMES.nanoUsd} `);
}

function formatTally(account: Account, spent: Spent, part: CountedKind): string {
  const whole = formatAmount(part, getAllowance(account)[part] ?? 0);
  const spentText = formatAmount(part, sumUsed(account, spent)[part]);
  const aside = sumReserved(account)[part];
  const waiting = aside === 0 ? "" : `, ${formatAmount(part, aside)} reserved for running agents`;
  return `${whole} (${spentText} spent${waiting})`;
}

function formatAmount(part: CountedKind, value: number | null): string {
  return part === "nanoUsd" ? formatDollars(toUsd(value)) : String(value);
}

function formatAdvice({ reserved }: Account): string {
  return Object.keys(reserved).length === 0
    ? "Do the task yourself, or finish with the results that you have."
    : "Wait for the agents that are running: you get back what they do not use.";
}
