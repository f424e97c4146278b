import { type Account, openAccount, rest, settle, used, withOwn } from "../budget/account.ts";
import { type Allowance, type Amounts, addAmounts, allowanceOf, NOTHING } from "../budget/amounts.ts";
import { limitReached, spentBy } from "../budget/limits.ts";
import { budgetReached } from "../budget/refusal.ts";
import { type Reservation, reserve } from "../budget/reserve.ts";
import { loopOf, pinnedOf } from "./phase.ts";
import type { Call } from "./state/calling.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// What a loop may spend together with its sub-agents, and what each of these gets of it (design 3.9).

/** What whoever has started the run has set aside for it; absent for a run that a person has started. */
export function givenOf({ task, share }: Pick<State, "task" | "share">): Allowance | undefined {
  return task?.given ?? share;
}

/** The account of the open loop, as its limits are now. */
export function accountOf(state: State): Account {
  const loop = loopOf(state);
  const { limits, delegation } = pinnedOf(state);
  const own = allowanceOf(limits, delegation, loop.startedAtMs + (loop.waitedMs ?? 0));
  const given = givenNow(state);
  if (loop.account === undefined) return openAccount(own, given);
  return { ...withOwn(loop.account, own), ...(given === undefined ? {} : { given }) };
}

/** What is left of it for this loop. Time in which a person was waited for is not of the time that was given. */
function givenNow(state: State): Allowance | undefined {
  const given = givenOf(state);
  if (given === undefined) return undefined;
  const { used: gone = NOTHING, waitedMs = 0 } = state.totals;
  const remaining = less(given, gone);
  if (remaining.deadlineMs === null) return remaining;
  return { ...remaining, deadlineMs: remaining.deadlineMs + waitedMs + (loopOf(state).waitedMs ?? 0) };
}

/** Earlier loops of a sub-agent's run have spent of the same share. */
function less(given: Allowance, gone: Amounts): Allowance {
  return {
    ...given,
    turns: rest(given.turns, gone.turns),
    tokens: rest(given.tokens, gone.tokens),
    nanoUsd: rest(given.nanoUsd, gone.nanoUsd),
    children: rest(given.children, gone.children),
  };
}

/** Why no further turn may begin: by the loop's own limits, then by what all of its tree has of them. */
export function exhausted(state: State): string | undefined {
  const loop = loopOf(state);
  const spent = spentBy(loop, state.nowMs);
  const reached = limitReached(pinnedOf(state).limits, spent);
  const isShared = loop.account !== undefined || givenOf(state) !== undefined;
  return reached ?? (isShared ? budgetReached(accountOf(state), spent, state.nowMs) : undefined);
}

export type Shares = {
  readonly state: State;
  /** By the call's index. */
  readonly of: ReadonlyMap<number, Reservation>;
};

/** Sets aside for calls of sub-agents that begin together, each of the loop's turn once. */
export function reserveShares(state: State, calls: readonly Call[], indices: readonly number[]): Shares {
  const { tools } = pinnedOf(state);
  const asked = indices.flatMap((index) => {
    const facts = tools[calls[index]?.name ?? ""]?.child;
    if (facts === undefined) return [];
    const own = allowanceOf(facts.limits, facts.delegation, state.nowMs);
    return [{ index, id: shareId(state, index), own }];
  });
  if (asked.length === 0) return { state, of: new Map() };
  const loop = loopOf(state);
  const { turns, ...spent } = spentBy(loop, state.nowMs);
  // The turn that has called is not counted yet.
  const given = reserve(accountOf(state), { ...spent, turns: turns + 1 }, asked, state.nowMs);
  return {
    state: { ...state, loop: { ...loop, account: given.account } },
    of: new Map(asked.map(({ index }, place) => [index, given.reservations[place] as Reservation])),
  };
}

/** What a sub-agent has not used of its share is free again. */
export function settleShare(state: State, index: number, spent: Amounts): State {
  const loop = loopOf(state);
  if (loop.account === undefined) return state;
  return { ...state, loop: { ...loop, account: settle(loop.account, shareId(state, index), spent) } };
}

/** A turn has one answer with calls, and a loop each turn once. */
function shareId(state: State, index: number): string {
  return `${loopOf(state).turn}.${index}`;
}

/** What a loop adds to what its run has used, with all below it. */
export function usedBy({ totals, nowMs }: State, loop: OpenLoop): Amounts {
  const spent = spentBy(loop, nowMs);
  const account = loop.account ?? openAccount(UNBOUND);
  return addAmounts(totals.used ?? NOTHING, used(account, spent));
}

const UNBOUND: Allowance = {
  turns: null,
  tokens: null,
  nanoUsd: null,
  children: null,
  deadlineMs: null,
  depth: 0,
};
