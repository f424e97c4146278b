import { ProtocolError } from "../../platform/text/protocol-error.ts";
import { computeRemaining, getAllowance, type Remaining } from "./account.ts";
import type { Account, Allowance, Amounts } from "./account-state.ts";
import { COUNTED_KINDS, minLimit } from "./amounts.ts";
import { computeFairShares } from "./fair-shares.ts";
import type { Spent } from "./limits.ts";
import { formatShortage, type Shortage } from "./shortage.ts";

/** A child that is to begin. */
export type ChildRequest = {
  /** Unique in the account forever, for example from the command and the call. */
  readonly id: string;
  /** What its own definition allows it. */
  readonly own: Allowance;
};

export type Reservation =
  /** `allocation` is the allowance with which the child's account is opened. */
  | { readonly type: "reserved"; readonly id: string; readonly allocation: Allowance }
  | { readonly type: "denied"; readonly id: string; readonly reason: string };

/**
 * Reserves a fair share of what is left for children that begin together, and for none more than its own definition
 * allows. When there is not enough for all, the first ones begin and the others are denied, with a reason for the
 * model.
 *
 * @param keep - Shares that stay with the agent itself, to read the results of the children: one, or 0 for an agent that
 *   spends nothing after them.
 * @returns A reservation for each child, in the order of the requests.
 */
export function reserve(
  account: Account,
  spent: Spent,
  asked: readonly ChildRequest[],
  nowMs: number,
  ownShares: 0 | 1 = 1,
): { readonly account: Account; readonly reservations: readonly Reservation[] } {
  const known = new Set(Object.keys(account.reserved));
  for (const { id } of asked) {
    if (known.has(id)) throw new ProtocolError(`Child ${id} already has a reservation.`);
    known.add(id);
  }
  const before = computeRemaining(account, spent, nowMs);
  const { count, shortage } = countAffordable(before, asked.length, ownShares);
  const begun = asked.slice(0, count);
  const given = computeShares(account, before, begun, ownShares);
  const open = { ...account.reserved };
  for (const [index, { id }] of begun.entries()) open[id] = toReservedAmounts(given[index] as Allowance);
  const reserved = { ...account, reserved: open };
  const reason = formatShortage(shortage, reserved, spent, nowMs);
  return {
    account: reserved,
    reservations: asked.map(({ id }, index) => {
      const allowed = given[index];
      return allowed === undefined
        ? { type: "denied", id, reason }
        : { type: "reserved", id, allocation: allowed };
    }),
  };
}

/** Counts how many children can begin so that each, and the agent, has one of everything; and names what is short. */
function countAffordable(
  before: Remaining,
  wanted: number,
  keep: number,
): { readonly count: number; readonly shortage: Shortage } {
  if (before.depth < 1) return { count: 0, shortage: "depth" };
  if (before.timeMs === 0) return { count: 0, shortage: "time" };
  let count = wanted;
  let shortage: Shortage = "children";
  for (const part of COUNTED_KINDS) {
    const amount = before[part];
    if (amount === null) continue;
    const enoughFor = Math.max(0, part === "children" ? amount : amount - keep);
    if (enoughFor < count) {
      count = enoughFor;
      shortage = part;
    }
  }
  return { count, shortage };
}

function computeShares(
  account: Account,
  before: Remaining,
  begun: readonly ChildRequest[],
  keep: number,
): readonly Allowance[] {
  const depths = begun.map(({ own }) => Math.min(own.depth, before.depth - 1));
  const sharesOf = (amount: number | null, caps: readonly (number | null)[]) =>
    amount === null ? caps : computeFairShares(amount, caps, keep);
  const divide = (part: "turns" | "tokens" | "nanoUsd") =>
    sharesOf(
      before[part],
      begun.map(({ own }) => own[part]),
    );
  const [turns, tokens, nanoUsd] = [divide("turns"), divide("tokens"), divide("nanoUsd")];
  const below = before.children === null ? null : before.children - begun.length;
  const children = sharesOf(
    below,
    begun.map(({ own }, index) => (depths[index] === 0 ? 0 : own.children)),
  );
  const { deadlineMs } = getAllowance(account);
  return begun.map(({ own }, index) => ({
    turns: turns[index] ?? null,
    tokens: tokens[index] ?? null,
    nanoUsd: nanoUsd[index] ?? null,
    children: children[index] ?? null,
    deadlineMs: minLimit(own.deadlineMs, deadlineMs),
    depth: depths[index] as number,
  }));
}

/** Converts an allowance to what is reserved. Without a limit there is nothing to reserve. */
function toReservedAmounts({ turns, tokens, nanoUsd, children }: Allowance): Amounts {
  return { turns: turns ?? 0, tokens: tokens ?? 0, nanoUsd: nanoUsd ?? 0, children: 1 + (children ?? 0) };
}
