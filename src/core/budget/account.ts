import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Account, Allowance, Amounts } from "./account-state.ts";
import { addAmounts, minAllowance, NO_AMOUNTS, toAmounts } from "./amounts.ts";
import type { Spent } from "./limits.ts";

/** What may still be spent or reserved: never negative; `null` is without limit. */
export type Remaining = {
  readonly turns: number | null;
  readonly tokens: number | null;
  readonly nanoUsd: number | null;
  readonly children: number | null;
  readonly timeMs: number | null;
  readonly depth: number;
};

export function openAccount(own: Allowance, given?: Allowance): Account {
  return { own, ...omitUndefined({ allocation: given }), settled: NO_AMOUNTS, reserved: {} };
}

/** Sets other limits of its own, higher or lower. What was spent and what is reserved stays unchanged. */
export function setOwnAllowance(account: Account, own: Allowance): Account {
  return { ...account, own };
}

export function getAllowance({ own, allocation }: Account): Allowance {
  return allocation === undefined ? own : minAllowance(own, allocation);
}

/**
 * Sums what the agent and everything ended below it have spent, which its parent settles. Running children are not
 * included: when an agent ends or dies before them, settle them first.
 */
export function sumUsed(account: Account, spent: Spent): Amounts {
  return addAmounts(toAmounts(spent), account.settled);
}

export function sumReserved({ reserved }: Account): Amounts {
  return Object.values(reserved).reduce(addAmounts, NO_AMOUNTS);
}

/** Computes what is left for the agent's next step, and to share among children. */
export function computeRemaining(account: Account, spent: Spent, nowMs: number): Remaining {
  const { turns, tokens, nanoUsd, children, deadlineMs, depth } = getAllowance(account);
  const committed = addAmounts(sumUsed(account, spent), sumReserved(account));
  return {
    turns: subtractSpent(turns, committed.turns),
    tokens: subtractSpent(tokens, committed.tokens),
    nanoUsd: subtractSpent(nanoUsd, committed.nanoUsd),
    children: subtractSpent(children, committed.children),
    timeMs: subtractSpent(deadlineMs, nowMs),
    depth,
  };
}

/** Subtracts what was spent. Nothing is left of a limit when the amount spent is unknown, because it could be all of it. */
export function subtractSpent(limit: number | null, spent: number | null): number | null {
  if (limit === null) return null;
  return spent === null ? 0 : Math.max(0, limit - spent);
}

/**
 * Settles a child that has ended, in whatever way: what it and everything below it have spent counts, and the rest of its
 * reservation is free again. For a child that died, its record is used, which does not contain a step in flight.
 *
 * A child without an open reservation, because it was already settled, changes nothing.
 *
 * @param spent - By `sumUsed` of the child's account: the child itself is not one of its `children`.
 */
export function settle(account: Account, id: string, spent: Amounts): Account {
  return closeReservation(account, id, addAmounts(spent, { ...NO_AMOUNTS, children: 1 }));
}

/** Releases the reservation of a child that has not started. */
export function release(account: Account, id: string): Account {
  return closeReservation(account, id, NO_AMOUNTS);
}

function closeReservation(account: Account, id: string, spent: Amounts): Account {
  if (!Object.hasOwn(account.reserved, id)) return account;
  const { [id]: _, ...open } = account.reserved;
  return { ...account, reserved: open, settled: addAmounts(account.settled, spent) };
}
