import { type Allowance, type Amounts, addAmounts, minAllowance, NO_AMOUNTS, toAmounts } from "./amounts.ts";
import type { Spent } from "./limits.ts";

/**
 * The account of one agent over the tree of agents below it (design 3.9): one small JSON value, which continue-as-new
 * and a fork carry along. Each agent keeps its own; nobody looks into another's.
 *
 * What the agent spends itself is not in it but stands beside, as `Spent`: the loop counts that already.
 *
 * Invariants
 *   B1. What is set aside for children, what ended children have spent and what the agent has spent itself are together
 *       at most its allowance, when it begins a step or starts children, and after it has started them.
 *   B2. A child is set aside once and settled once: from then on what it spent counts, and the rest is free again.
 *   B3. Turns, tokens and dollars are passed by at most the step in flight. Precisely: an agent begins a step only
 *       while something is left, and how much the step takes is known only when it ends. So an agent passes its
 *       allowance by at most one step of its own, and on top of that by what children that were at work side by side
 *       when it last began something have passed theirs by; what children passed theirs by before that has been taken
 *       from what was left. The limit of a whole tree is passed by at most one step of each agent that was at work when
 *       it was met.
 *   B4. The number of children and the depth are known before and are never passed. A deadline is passed by at most
 *       the step in flight.
 */
export type Account = {
  /** By its own definition, or as an operator has raised it. */
  readonly own: Allowance;
  /** What its parent has set aside for it: raising its own limits never passes this. Absent at the root. */
  readonly given?: Allowance;
  /** Spent by children that are over, with all that was below them. */
  readonly settled: Amounts;
  /** Set aside for children at work, each with itself as one of `children`. */
  readonly open: Readonly<Record<string, Amounts>>;
};

/** What may still be spent or set aside: never below zero; `null` is without limit. */
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

/** Other limits of its own, higher or lower; what was spent and what is set aside stays as it is. */
export function setOwnAllowance(account: Account, own: Allowance): Account {
  return { ...account, own };
}

/** Time has passed that does not count for the agent's own limit (a person was waited for). It counts for its parent's. */
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
 * Spent by the agent and by all below it that are over: what its parent settles it with. Children at work are not in
 * it; of an agent that ends or died before them, settle them first.
 */
export function sumUsed(account: Account, spent: Spent): Amounts {
  return addAmounts(toAmounts(spent), account.settled);
}

export function sumReserved({ open }: Account): Amounts {
  return Object.values(open).reduce(addAmounts, NO_AMOUNTS);
}

/** What is left for the agent's next step, and to share out among children. */
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

/** Nothing is left of a limit when what has gone is unknown: it could be all of it. */
export function subtractSpent(limit: number | null, spent: number | null): number | null {
  if (limit === null) return null;
  return spent === null ? 0 : Math.max(0, limit - spent);
}

/**
 * A child is over, however it ended: what it and all below it have spent counts, and what was set aside for it beyond
 * that is free again. Of a child that died, what its record shows; a step that was in flight then is not in it.
 *
 * A child that is not open, because it was settled before, changes nothing.
 *
 * @param spent - By `used` of the child's account: it is not itself one of its `children`.
 */
export function settle(account: Account, id: string, spent: Amounts): Account {
  return closeReservation(account, id, addAmounts(spent, { ...NO_AMOUNTS, children: 1 }));
}

/** A child for which something was set aside has not been started: all of it is free again. */
export function release(account: Account, id: string): Account {
  return closeReservation(account, id, NO_AMOUNTS);
}

function closeReservation(account: Account, id: string, spent: Amounts): Account {
  if (!Object.hasOwn(account.open, id)) return account;
  const { [id]: _, ...open } = account.open;
  return { ...account, open, settled: addAmounts(account.settled, spent) };
}
