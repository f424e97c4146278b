import {
  type Account,
  openAccount,
  setOwnAllowance,
  settle,
  subtractSpent,
  sumUsed,
} from "../budget/account.ts";
import { type Allowance, type Amounts, addAmounts, buildAllowance, NO_AMOUNTS } from "../budget/amounts.ts";
import { computeSpent, findReachedLimit } from "../budget/limits.ts";
import { type Reservation, reserve } from "../budget/reserve.ts";
import { findExhaustedBudget } from "../budget/shortage.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import type { Call } from "./state/call-status.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// What a loop may spend together with its sub-agents, and what each of these gets of it (design 3.9).

/** What whoever has started the run has set aside for it; absent for a run that a person has started. */
export function getAllocation({ task, share }: Pick<State, "task" | "share">): Allowance | undefined {
  return task?.given ?? share;
}

/** The account of the open loop, as its limits are now. */
export function getAccount(state: State): Account {
  const loop = requireLoop(state);
  const { limits, delegation } = requirePinned(state);
  const own = buildAllowance(limits, delegation, loop.startedAtMs + (loop.waitedMs ?? 0));
  const given = getRemainingAllocation(state);
  if (loop.account === undefined) return openAccount(own, given);
  return { ...setOwnAllowance(loop.account, own), ...(given === undefined ? {} : { given }) };
}

/** What is left of it for this loop. Time in which a person was waited for is not of the time that was given. */
function getRemainingAllocation(state: State): Allowance | undefined {
  const given = getAllocation(state);
  if (given === undefined) return undefined;
  const { used: gone = NO_AMOUNTS, waitedMs = 0 } = state.totals;
  const remaining = subtractAmounts(given, gone);
  if (remaining.deadlineMs === null) return remaining;
  return { ...remaining, deadlineMs: remaining.deadlineMs + waitedMs + (requireLoop(state).waitedMs ?? 0) };
}

/** Earlier loops of a sub-agent's run have spent of the same share. */
function subtractAmounts(given: Allowance, gone: Amounts): Allowance {
  return {
    ...given,
    turns: subtractSpent(given.turns, gone.turns),
    tokens: subtractSpent(given.tokens, gone.tokens),
    nanoUsd: subtractSpent(given.nanoUsd, gone.nanoUsd),
    children: subtractSpent(given.children, gone.children),
  };
}

/** Why no further turn may begin: by the loop's own limits, then by what all of its tree has of them. */
export function findExhaustedLimit(state: State): string | undefined {
  const loop = requireLoop(state);
  const spent = computeSpent(loop, state.nowMs);
  const reached = findReachedLimit(requirePinned(state).limits, spent);
  const isShared = loop.account !== undefined || getAllocation(state) !== undefined;
  return reached ?? (isShared ? findExhaustedBudget(getAccount(state), spent, state.nowMs) : undefined);
}

export type ReservedShares = {
  readonly state: State;
  /** By the call's index. */
  readonly of: ReadonlyMap<number, Reservation>;
};

/** Sets aside for calls of sub-agents that begin together, each of the loop's turn once. */
export function reserveShares(
  state: State,
  calls: readonly Call[],
  indices: readonly number[],
): ReservedShares {
  const { tools } = requirePinned(state);
  const asked = indices.flatMap((index) => {
    const facts = tools[calls[index]?.name ?? ""]?.child;
    if (facts === undefined) return [];
    const own = buildAllowance(facts.limits, facts.delegation, state.nowMs);
    return [{ index, id: buildShareId(state, index), own }];
  });
  if (asked.length === 0) return { state, of: new Map() };
  const loop = requireLoop(state);
  const { turns, ...spent } = computeSpent(loop, state.nowMs);
  // The turn that has called is not counted yet.
  const given = reserve(getAccount(state), { ...spent, turns: turns + 1 }, asked, state.nowMs);
  return {
    state: { ...state, loop: { ...loop, account: given.account } },
    of: new Map(asked.map(({ index }, place) => [index, given.reservations[place] as Reservation])),
  };
}

/** What a sub-agent has not used of its share is free again. */
export function settleShare(state: State, index: number, spent: Amounts): State {
  const loop = requireLoop(state);
  if (loop.account === undefined) return state;
  return { ...state, loop: { ...loop, account: settle(loop.account, buildShareId(state, index), spent) } };
}

/** A turn has one answer with calls, and a loop each turn once. */
function buildShareId(state: State, index: number): string {
  return `${requireLoop(state).turn}.${index}`;
}

/** What a loop adds to what its run has used, with all below it. */
export function addLoopAmounts({ totals, nowMs }: State, loop: OpenLoop): Amounts {
  const spent = computeSpent(loop, nowMs);
  const account = loop.account ?? openAccount(UNLIMITED);
  return addAmounts(totals.used ?? NO_AMOUNTS, sumUsed(account, spent));
}

const UNLIMITED: Allowance = {
  turns: null,
  tokens: null,
  nanoUsd: null,
  children: null,
  deadlineMs: null,
  depth: 0,
};
