import { type Allowance, type Amounts, addAmounts, minAllowance, NO_AMOUNTS, toAmounts } from "./amounts.ts";
import type { Spent } from "./limits.ts";

/**
 * The account of one agent and of the tree of agents below it (design 3.9): one small JSON value, which continue-as-new
 * and a fork carry along. Each agent has its own account and never reads another's.
 *
 * What the agent itself spends is not in the account but passed beside it, as `Spent`: the loop already counts it.
 *
 * Invariants
 *   B1. When the agent begins a step or starts children, and after it has started them, the sum of what is reserved for
 *       children, what ended children have spent and what the agent itself has spent is at most its allowance.
 *   B2. A child is reserved for once and settled once: from then on what it spent counts, and the rest is free again.
 *   B3. Turns, tokens and dollars are exceeded by at most the step in flight. Precisely: an agent begins a step only
 *       while something is left, and how much the step takes is known only when it ends. So an agent exceeds its
 *       allowance by at most one step of its own, plus the amounts by which children that were running side by side
 *       when it last began something have exceeded theirs; earlier excess of children has been taken from what was
 *       left. The limit of a whole tree is exceeded by at most one step of each agent that was running when it was
 *       reached.
 *   B4. The number of children and the depth are known in advance and are never exceeded. A deadline is exceeded by at
 *       most the step in flight.
 */
export type Account = {
  /** Set by its own definition, or raised by an operator. */
  readonly own: Allowance;
  /** What its parent has reserved for it: raising its own limits never exceeds this. Absent at the root. */
  readonly given?: Allowance;
  /** Spent by ended children and everything below them. */
  readonly settled: Amounts;
  /** Reserved for running children, each with itself as one of `children`. */
  readonly open: Readonly<Record<string, Amounts>>;
};

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
  return { own, ...(given === undefined ? {} : { given }), settled: NO_AMOUNTS, open: {} };
}

/** Sets other limits of its own, higher or lower. What was spent and what is reserved stays unchanged. */
export function setOwnAllowance(account: Account, own: Allowance): Account {
  return { ...account, own };
}

/** Extends the agent's own deadline by time that does not count, such as waiting for the user. It counts for the parent. */
export function extendDeadline(account: Account, byMs: number): Account {
  const { deadlineMs } = account.own;
  return deadlineMs === null
    ? account
    : setOwnAllowance(account, { ...account.own, deadlineMs: deadlineMs + byMs });
}

export function getAllowance({ own, given }: Account): Allowance {
  return given === undefined ? own : minAllowance(own, given);
}

/**
 * Sums what the agent and everything ended below it have spent, which its parent settles. Running children are not
 * included: when an agent ends or dies before them, settle them first.
 */
export function sumUsed(account: Account, spent: Spent): Amounts {
  return addAmounts(toAmounts(spent), account.settled);
}

export function sumReserved({ open }: Account): Amounts {
  return Object.values(open).reduce(addAmounts, NO_AMOUNTS);
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
  if (!Object.hasOwn(account.open, id)) return account;
  const { [id]: _, ...open } = account.open;
  return { ...account, open, settled: addAmounts(account.settled, spent) };
}
