import type { Limits, SubAgentLimits } from "../schema/definition.ts";
import { addSpent, limitReached, NO_SPENT, type Spent } from "./limits.ts";

// The account of a tree of agents (design 3.9). A sub-agent draws on what its caller has left: its share is reserved
// before it begins, and what it has not spent comes back when it is settled.
//
// Invariants
//   B1. What a loop has spent, what its settled sub-agents have, and what is reserved for the others, is together at
//       most its limit when a share is reserved.
//   B2. A share is settled once; a second time changes nothing.
//
// An agent looks at its limits before each step, not within one: each agent of a tree may pass its share by the one
// step that it is in, and the root's limit is passed by no more than these steps together.

/** What a loop's sub-agents have, and have had. */
export type Account = {
  readonly reserved: readonly Reserved[];
  /** By those that are settled, with all below them. */
  readonly spent: Spent;
  /** Sub-agents that were begun, with all below those that are settled. */
  readonly children: number;
};

type Reserved = { readonly id: string; readonly limits: Limits; readonly maxChildren: number | null };

export const NO_ACCOUNT: Account = { reserved: [], spent: NO_SPENT, children: 0 };

export type Asked = {
  /** The call that it is for. */
  readonly id: string;
  /** Of the loop that calls. */
  readonly limits: Limits;
  readonly maxChildren: number | null;
  /** By the loop that calls, itself. */
  readonly spent: Spent;
  /** What the sub-agent would have by itself. */
  readonly asked: SubAgentLimits & { readonly maxChildren: number | null };
  /** Sub-agents that begin together, this one included: each gets its part of what is left. */
  readonly sharers: number;
};

export type Share =
  | {
      readonly ok: true;
      readonly account: Account;
      readonly limits: Limits;
      readonly maxChildren: number | null;
    }
  | { readonly ok: false; readonly reason: string };

/** Sets a share aside: an equal part of what is left, and no more than was asked for. */
export function reserve(account: Account, { id, limits, maxChildren, spent, asked, sharers }: Asked): Share {
  const tree = treeSpent(account, spent);
  const barred = childrenLeft(account, maxChildren) === 0 ? tooMany(maxChildren) : limitReached(limits, tree);
  if (barred !== undefined) return { ok: false, reason: barred };
  const left = remaining(limits, tree, account.reserved);
  const share: Limits = {
    maxTurns: least(asked.maxTurns, part(left.maxTurns, sharers, true)),
    maxTotalTokens: least(asked.maxTotalTokens, part(left.maxTotalTokens, sharers, true)),
    // Time passes for all of them at once.
    maxDurationMs: least(asked.maxDurationMs, left.maxDurationMs),
    maxCostUsd: least(asked.maxCostUsd, part(left.maxCostUsd, sharers, false)),
  };
  const empty = emptyIn(share);
  if (empty !== undefined) return { ok: false, reason: empty };
  const below = childrenLeft(account, maxChildren);
  const children = least(asked.maxChildren, below === null ? null : Math.floor((below - sharers) / sharers));
  const reserved = { id, limits: share, maxChildren: children === null ? null : Math.max(0, children) };
  return {
    ok: true,
    account: { ...account, reserved: [...account.reserved, reserved], children: account.children + 1 },
    limits: share,
    maxChildren: reserved.maxChildren,
  };
}

/** Gives back what a sub-agent has not spent of its share. Of one that has none, nothing. */
export function settle(account: Account, id: string, spent: Spent, children = 0): Account {
  if (!account.reserved.some((one) => one.id === id)) return account;
  return {
    reserved: account.reserved.filter((one) => one.id !== id),
    // Its time has passed for its caller too, who counts it.
    spent: addSpent(account.spent, { ...spent, durationMs: 0 }),
    children: account.children + children,
  };
}

/** By a loop and all of its sub-agents that are settled. */
export function treeSpent({ spent }: Account, own: Spent): Spent {
  return addSpent(own, spent);
}

function remaining(limits: Limits, spent: Spent, reserved: readonly Reserved[]): Limits {
  const left = (limit: number | null, used: number, of: (one: Limits) => number | null) =>
    limit === null ? null : limit - used - reserved.reduce((sum, one) => sum + (of(one.limits) ?? 0), 0);
  return {
    maxTurns: left(limits.maxTurns, spent.turns, ({ maxTurns }) => maxTurns),
    maxTotalTokens: left(limits.maxTotalTokens, spent.tokens, ({ maxTotalTokens }) => maxTotalTokens),
    maxDurationMs: limits.maxDurationMs === null ? null : limits.maxDurationMs - spent.durationMs,
    maxCostUsd: left(limits.maxCostUsd, spent.costUsd, ({ maxCostUsd }) => maxCostUsd),
  };
}

/** Begun, and set aside for those below the ones that are at work. */
function childrenLeft({ children, reserved }: Account, maxChildren: number | null): number | null {
  if (maxChildren === null) return null;
  return Math.max(0, maxChildren - children - reserved.reduce((sum, one) => sum + (one.maxChildren ?? 0), 0));
}

function emptyIn({ maxTurns, maxTotalTokens, maxCostUsd }: Limits): string | undefined {
  const none = (what: string) => `no ${what} are left for a sub-agent: the others have them`;
  if (maxTurns !== null && maxTurns < 1) return none("turns");
  if (maxTotalTokens !== null && maxTotalTokens < 1) return none("tokens");
  return maxCostUsd !== null && maxCostUsd <= 0 ? none("dollars") : undefined;
}

function tooMany(maxChildren: number | null): string {
  return `Max sub-agents reached (${maxChildren})`;
}

function part(whole: number | null, sharers: number, isWhole: boolean): number | null {
  if (whole === null) return null;
  return isWhole ? Math.floor(whole / sharers) : whole / sharers;
}

export function least(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
