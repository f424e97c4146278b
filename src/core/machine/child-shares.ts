import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { openAccount, setOwnAllowance, settle, subtractSpent, sumUsed } from "../budget/account.ts";
import type { Account, Allowance, Amounts } from "../budget/account-state.ts";
import { addAmounts, buildAllowance, NO_AMOUNTS } from "../budget/amounts.ts";
import { computeSpent, findReachedLimit } from "../budget/limits.ts";
import { type Reservation, reserve } from "../budget/reserve.ts";
import { findExhaustedBudget } from "../budget/shortage.ts";
import { requireLoop, requirePinned } from "./phase.ts";
import { buildCallLimits } from "./requested-turns.ts";
import type { Call } from "./state/call-status.ts";
import type { OpenLoop } from "./state/loop-state.ts";
import type { State } from "./state/state.ts";

// What a loop may spend together with its sub-agents, and what each sub-agent gets of it (design 3.9).

/** Returns what the starter of the run has reserved for it; nothing for a run that a user has started. */
export function getAllocation({ task, share }: Pick<State, "task" | "share">): Allowance | undefined {
  return task?.allocation ?? share;
}

/** Returns the account of the open loop with its current limits. */
export function getAccount(state: State): Account {
  const loop = requireLoop(state);
  const { limits, delegation } = requirePinned(state);
  const own = buildAllowance(limits, delegation, loop.startedAtMs + (loop.waitedMs ?? 0));
  const given = getRemainingAllocation(state);
  if (loop.account === undefined) return openAccount(own, given);
  return { ...setOwnAllowance(loop.account, own), ...omitUndefined({ allocation: given }) };
}

/** Returns the part of the allocation that this loop still has. Time spent waiting for a user does not count. */
function getRemainingAllocation(state: State): Allowance | undefined {
  const given = getAllocation(state);
  if (given === undefined) return undefined;
  const { used: gone = NO_AMOUNTS, waitedMs = 0 } = state.totals;
  const remaining = subtractAmounts(given, gone);
  if (remaining.deadlineMs === null) return remaining;
  return { ...remaining, deadlineMs: remaining.deadlineMs + waitedMs + (requireLoop(state).waitedMs ?? 0) };
}

/** Subtracts what earlier loops of a sub-agent's run have spent of the same share. */
function subtractAmounts(given: Allowance, gone: Amounts): Allowance {
  return {
    ...given,
    turns: subtractSpent(given.turns, gone.turns),
    tokens: subtractSpent(given.tokens, gone.tokens),
    nanoUsd: subtractSpent(given.nanoUsd, gone.nanoUsd),
    children: subtractSpent(given.children, gone.children),
  };
}

/** Returns why no further turn may begin: the loop's own limits first, then those of its whole tree. */
export function findExhaustedLimit(state: State): string | undefined {
  const loop = requireLoop(state);
  const spent = computeSpent(loop, state.nowMs);
  const reached = findReachedLimit(requirePinned(state).limits, spent);
  const isShared = loop.account !== undefined || getAllocation(state) !== undefined;
  return reached ?? (isShared ? findExhaustedBudget(getAccount(state), spent, state.nowMs) : undefined);
}

export type ReservedShares = {
  readonly state: State;
  /** By the index of the call. */
  readonly reservations: ReadonlyMap<number, Reservation>;
};

/** Reserves shares for sub-agent calls that begin together. Each call of the loop's turn is reserved once. */
export function reserveShares(
  state: State,
  calls: readonly Call[],
  indices: readonly number[],
): ReservedShares {
  const { tools } = requirePinned(state);
  const asked = indices.flatMap((index) => {
    const call = calls[index];
    const facts = tools[call?.name ?? ""]?.child;
    if (call === undefined || facts === undefined) return [];
    const own = buildAllowance(buildCallLimits(call, facts), facts.delegation, state.nowMs);
    return [{ index, id: buildShareId(state, index), own }];
  });
  if (asked.length === 0) return { state, reservations: new Map() };
  const loop = requireLoop(state);
  const { turns, ...spent } = computeSpent(loop, state.nowMs);
  // The turn that has called is not counted yet.
  const given = reserve(getAccount(state), { ...spent, turns: turns + 1 }, asked, state.nowMs);
  return {
    state: { ...state, loop: { ...loop, account: given.account } },
    reservations: new Map(asked.map(({ index }, place) => [index, given.reservations[place] as Reservation])),
  };
}

/** Settles a sub-agent's share: what it has not used is free again. */
export function settleShare(state: State, index: number, spent: Amounts): State {
  const loop = requireLoop(state);
  if (loop.account === undefined) return state;
  return { ...state, loop: { ...loop, account: settle(loop.account, buildShareId(state, index), spent) } };
}

/** Builds the id of a share. A turn has one answer with calls, and a loop each turn once. */
function buildShareId(state: State, index: number): string {
  return `${requireLoop(state).turn}.${index}`;
}

/** Adds what a loop and all its sub-agents have used to the run's totals. */
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
