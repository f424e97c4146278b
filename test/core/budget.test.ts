import fc, {
  constant,
  constantFrom,
  type IProperty,
  array as listOf,
  nat,
  oneof,
  property,
} from "fast-check";
import { describe, expect, test } from "vitest";
import {
  computeRemaining,
  openAccount,
  release,
  setOwnAllowance,
  settle,
  sumReserved,
  sumUsed,
} from "../../src/core/budget/account.ts";
import type { Account, Allowance } from "../../src/core/budget/account-state.ts";
import {
  addAmounts,
  buildAllowance,
  NO_AMOUNTS,
  toAmounts,
  toNanoUsd,
  toUsd,
} from "../../src/core/budget/amounts.ts";
import { computeFairShares } from "../../src/core/budget/fair-shares.ts";
import type { Spent } from "../../src/core/budget/limits.ts";
import { type Reservation, reserve } from "../../src/core/budget/reserve.ts";
import { findExhaustedBudget } from "../../src/core/budget/shortage.ts";
import { Delegation } from "../../src/schema/definition.ts";
import { Limits } from "../../src/schema/limits.ts";
import { getRunCount } from "../support/test-depth.ts";

const RUNS = getRunCount(500);
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

const FREE: Allowance = {
  turns: null,
  tokens: null,
  nanoUsd: null,
  children: null,
  deadlineMs: null,
  depth: 9,
};
const UNSPENT: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };
const allowed = (parts: Partial<Allowance>): Allowance => ({ ...FREE, ...parts });
const asked = (...own: readonly Partial<Allowance>[]) =>
  own.map((parts, index) => ({ id: `c${index}`, own: allowed(parts) }));
const givenOf = (reservations: readonly Reservation[]) =>
  reservations.map((reservation) =>
    reservation.type === "reserved" ? reservation.allocation : reservation.reason,
  );
const sharesOf = (part: keyof Allowance, reservations: readonly Reservation[]) =>
  reservations.map((reservation) =>
    reservation.type === "reserved" ? reservation.allocation[part] : "denied",
  );
const begin = (account: Account, own: readonly Partial<Allowance>[], spent = UNSPENT, keep: 0 | 1 = 1) =>
  reserve(account, spent, asked(...own), 0, keep);

describe("an account", () => {
  test("takes its allowance from a definition's limits; its deadline counts from the start", () => {
    const limits = Limits.parse({ maxTurns: 5, maxTotalTokens: null, maxDurationMs: 1000, maxCostUsd: 0.25 });
    expect(buildAllowance(limits, { maxDepth: 3, maxChildren: null }, 7000)).toEqual({
      turns: 5,
      tokens: null,
      nanoUsd: 250_000_000,
      children: null,
      deadlineMs: 8000,
      depth: 3,
    });
    expect(buildAllowance(limits, undefined, 0)).toEqual(buildAllowance(limits, Delegation.parse({}), 0));
    expect(buildAllowance({ ...limits, maxDurationMs: null, maxCostUsd: null }, undefined, 0)).toMatchObject({
      deadlineMs: null,
      nanoUsd: null,
    });
    // A tree may have turns of its own.
    const turns = (maxTreeTurns: number | null) =>
      buildAllowance(limits, { maxDepth: 1, maxChildren: 2, maxTreeTurns }, 0).turns;
    expect([turns(40), turns(null)]).toEqual([40, null]);
  });

  test("computes the remainder as the allowance minus its own spending, that of ended children, and reservations", () => {
    const account: Account = {
      own: allowed({
        turns: 50,
        tokens: 1000,
        nanoUsd: toNanoUsd(1),
        children: 8,
        deadlineMs: 900,
        depth: 2,
      }),
      settled: { turns: 10, tokens: 100, nanoUsd: toNanoUsd(0.25), children: 3 },
      reserved: {
        a: { turns: 5, tokens: 200, nanoUsd: toNanoUsd(0.125), children: 1 },
        b: { turns: 1, tokens: 50, nanoUsd: 0, children: 2 },
      },
    };
    const spent = { turns: 4, tokens: 30, durationMs: 0, costUsd: 0.5 };
    expect(computeRemaining(account, spent, 300)).toEqual({
      turns: 30,
      tokens: 620,
      nanoUsd: toNanoUsd(0.125),
      children: 2,
      timeMs: 600,
      depth: 2,
    });
    expect(sumUsed(account, spent)).toEqual({
      turns: 14,
      tokens: 130,
      nanoUsd: toNanoUsd(0.75),
      children: 3,
    });
    expect(
      computeRemaining(account, { turns: 99, tokens: 9999, durationMs: 0, costUsd: 9 }, 901),
    ).toMatchObject({
      turns: 0,
      tokens: 0,
      nanoUsd: 0,
      timeMs: 0,
    });
    expect(computeRemaining(openAccount(FREE), spent, 0)).toEqual({
      turns: null,
      tokens: null,
      nanoUsd: null,
      children: null,
      timeMs: null,
      depth: 9,
    });
  });

  test("recovers what a settled or released child has not spent, once", () => {
    const { account } = begin(openAccount(allowed({ tokens: 900, children: 10 })), [
      { tokens: 200, children: 0 },
      { tokens: 300, children: 4, depth: 1 },
    ]);
    expect(computeRemaining(account, UNSPENT, 0)).toMatchObject({ tokens: 400, children: 4 });
    const spent = { turns: 2, tokens: 120, nanoUsd: 7, children: 1 };
    const settled = settle(account, "c1", spent);
    expect(settled.settled).toEqual({ turns: 2, tokens: 120, nanoUsd: 7, children: 2 });
    expect(computeRemaining(settled, UNSPENT, 0)).toMatchObject({ tokens: 580, children: 7 });
    expect(settle(settled, "c1", spent)).toBe(settled);
    expect(settle(settled, "toString", spent)).toBe(settled);
    const released = release(settled, "c0");
    expect(computeRemaining(released, UNSPENT, 0)).toMatchObject({ tokens: 780, children: 8 });
    expect(sumReserved(released)).toEqual(NO_AMOUNTS);
  });

  test("preserves its spending when its limits change, and never exceeds the parent's share", () => {
    const account = openAccount(allowed({ tokens: 100, turns: 5 }), allowed({ tokens: 300, turns: 5 }));
    const spent = { ...UNSPENT, tokens: 90, turns: 2 };
    expect(computeRemaining(setOwnAllowance(account, allowed({ tokens: 200 })), spent, 0)).toMatchObject({
      tokens: 110,
      turns: 3,
    });
    expect(computeRemaining(setOwnAllowance(account, allowed({ tokens: 1000 })), spent, 0)).toMatchObject({
      tokens: 210,
      turns: 3,
    });
    expect(computeRemaining(setOwnAllowance(account, FREE), spent, 0)).toMatchObject({
      tokens: 210,
      depth: 9,
    });
    expect(computeRemaining(setOwnAllowance(account, allowed({ tokens: 50 })), spent, 0)).toMatchObject({
      tokens: 0,
    });
  });

  test("sums dollars exactly over ten thousand children, where floating-point sums drift", () => {
    const one = toAmounts({ ...UNSPENT, costUsd: 0.1 });
    const sum = Array.from({ length: 10_000 }).reduce<typeof NO_AMOUNTS>(
      (total) => addAmounts(total, one),
      NO_AMOUNTS,
    );
    expect(toUsd(sum.nanoUsd)).toBe(1000);
    expect(Array.from({ length: 10_000 }).reduce<number>((total) => total + 0.1, 0)).not.toBe(1000);
    expect(toNanoUsd(0.1 + 0.2)).toBe(toNanoUsd(0.3));
    expect(toNanoUsd(1e300)).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("reservations for children that start together", () => {
  test("are fair: the agent keeps one share, and what a child cannot use goes to the others", () => {
    const thousand = openAccount(allowed({ tokens: 1000 }));
    expect(sharesOf("tokens", begin(thousand, [{}, {}, {}]).reservations)).toEqual([250, 250, 250]);
    expect(sharesOf("tokens", begin(thousand, [{}, {}, {}], UNSPENT, 0).reservations)).toEqual([
      333, 333, 334,
    ]);
    expect(sharesOf("tokens", begin(thousand, [{ tokens: 400 }, { tokens: 100 }, {}]).reservations)).toEqual([
      300, 100, 300,
    ]);
    expect(sharesOf("tokens", begin(thousand, [{ tokens: 10 }]).reservations)).toEqual([10]);
    expect(sharesOf("tokens", begin(thousand, [{}], { ...UNSPENT, tokens: 800 }).reservations)).toEqual([
      100,
    ]);
    expect(sharesOf("tokens", begin(openAccount(FREE), [{}, { tokens: 7 }]).reservations)).toEqual([null, 7]);
  });

  test("reduce the depth by one level, use the earlier deadline, and divide the sub-agent budget", () => {
    const account = openAccount(allowed({ deadlineMs: 500, depth: 2, children: 11 }));
    const { reservations } = begin(account, [
      { deadlineMs: 300, depth: 9 },
      { deadlineMs: null, depth: 1, children: 1 },
      { deadlineMs: 900, depth: 0 },
    ]);
    expect(givenOf(reservations)).toMatchObject([
      { deadlineMs: 300, depth: 1, children: 3 },
      { deadlineMs: 500, depth: 1, children: 1 },
      { deadlineMs: 500, depth: 0, children: 0 },
    ]);
  });

  test("go to the first children when there is not enough for all; the others are denied with the reason", () => {
    const account = openAccount(allowed({ children: 2, turns: 60 }));
    const { account: after, reservations } = begin(account, [{ depth: 0 }, { depth: 0 }, { depth: 0 }]);
    expect(sharesOf("turns", reservations)).toEqual([20, 20, "denied"]);
    expect(reservations[2]).toEqual({
      type: "denied",
      id: "c2",
      reason:
        "Not started: too few sub-agents are left for one more agent, 0 of 2 (0 spent, 2 reserved for running agents). Wait for the agents that are running: you get back what they do not use.",
    });
    expect(Object.keys(after.reserved)).toEqual(["c0", "c1"]);
    expect(sharesOf("turns", begin(openAccount(allowed({ turns: 3 })), [{}, {}, {}]).reservations)).toEqual([
      1,
      1,
      "denied",
    ]);
    expect(
      sharesOf("turns", begin(openAccount(allowed({ turns: 3 })), [{}, {}, {}], UNSPENT, 0).reservations),
    ).toEqual([1, 1, 1]);
  });

  test("are denied when too little depth, time, turns, tokens or dollars remain, and the reason says which", () => {
    const refusalOf = (own: Partial<Allowance>, spent: Partial<Spent> = {}) =>
      givenOf(begin(openAccount(allowed(own)), [{}], { ...UNSPENT, ...spent }).reservations)[0];
    expect(refusalOf({ depth: 0 })).toBe(
      "Not started: this agent may have no sub-agents (maxDepth). Do the task yourself.",
    );
    expect(refusalOf({ deadlineMs: -1 })).toBe("Not started: this agent has no time left.");
    expect(refusalOf({ turns: 2 }, { turns: 1 })).toBe(
      "Not started: too few turns are left for one more agent, 1 of 2 (1 spent). Do the task yourself, or finish with the results that you have.",
    );
    expect(refusalOf({ tokens: 10 }, { tokens: 99 })).toContain(
      "too few tokens are left for one more agent, 0 of 10 (99 spent)",
    );
    expect(refusalOf({ nanoUsd: toNanoUsd(2) }, { costUsd: 2.5 })).toContain(
      "too few dollars are left for one more agent, $0.0000 of $2.0000 ($2.5000 spent)",
    );
  });

  test("are rejected for a child that already has one", () => {
    const { account } = begin(openAccount(FREE), [{}]);
    expect(() => begin(account, [{}])).toThrow(/c0 already has a reservation/);
    expect(() => reserve(openAccount(FREE), UNSPENT, [...asked({}), ...asked({})], 0)).toThrow(/already/);
  });

  test("never exceed the amount or a cap, leave nothing that a child could use, and differ only by their caps", () => {
    const caps = listOf(oneof(nat(40), constant(null)), { minLength: 1, maxLength: 8 });
    check(
      property(nat(200), caps, constantFrom(0, 1), (amount, capped, kept) => {
        const shares = computeFairShares(amount, capped, kept);
        const sum = shares.reduce((total, share) => total + share, 0);
        expect(sum).toBeLessThanOrEqual(amount);
        const uncapped = shares.filter((share, index) => share !== capped[index]);
        for (const [index, share] of shares.entries()) {
          expect(share).toBeLessThanOrEqual(capped[index] ?? Number.POSITIVE_INFINITY);
          for (const other of uncapped) expect(share).toBeLessThanOrEqual(other + 1);
        }
        if (kept === 0 && uncapped.length > 0) expect(sum).toBe(amount);
      }),
    );
  });
});

test("an amount is divided among none, equal caps, and the largest amount", () => {
  expect(computeFairShares(10, [], 1)).toEqual([]);
  expect(computeFairShares(10, [3, 3, 3], 0)).toEqual([3, 3, 3]);
  expect(computeFairShares(11, [null, null, null], 1)).toEqual([2, 3, 3]);
  expect(computeFairShares(Number.MAX_SAFE_INTEGER, [null, 1], 0)).toEqual([Number.MAX_SAFE_INTEGER - 1, 1]);
});

test("an exhausted budget is described in a message, for the agent's own limits and the parent's share", () => {
  const { account } = begin(openAccount(allowed({ tokens: 900 })), [{ tokens: 400 }]);
  expect(findExhaustedBudget(account, { ...UNSPENT, tokens: 499 }, 0)).toBeUndefined();
  expect(findExhaustedBudget(account, { ...UNSPENT, tokens: 500 }, 0)).toBe(
    "Budget of tokens reached: none left of 900 (500 spent, 400 reserved for running agents)",
  );
  const child = openAccount(FREE, allowed({ turns: 3, nanoUsd: toNanoUsd(0.5), deadlineMs: 90 }));
  expect(findExhaustedBudget(child, { ...UNSPENT, turns: 3 }, 0)).toBe(
    "Budget of turns reached: none left of 3 (3 spent)",
  );
  expect(findExhaustedBudget(child, { ...UNSPENT, costUsd: 0.5 }, 0)).toBe(
    "Budget of dollars reached: none left of $0.5000 ($0.5000 spent)",
  );
  expect(findExhaustedBudget(child, UNSPENT, 89)).toBeUndefined();
  expect(findExhaustedBudget(child, UNSPENT, 90)).toBe("Budget of time reached: the deadline has passed");
});

test("after a child with an unknown cost, nothing remains of a dollar budget, and no other budget changes", () => {
  const spent = { ...NO_AMOUNTS, turns: 1, nanoUsd: null };
  const bounded = {
    ...openAccount({ ...FREE, nanoUsd: toNanoUsd(2), depth: 1 }),
    reserved: { a: NO_AMOUNTS },
  };
  const account = settle(bounded, "a", spent);
  expect(sumUsed(account, UNSPENT)).toMatchObject({ turns: 1, nanoUsd: null });
  expect(computeRemaining(account, UNSPENT, 0)).toMatchObject({ nanoUsd: 0, turns: null });
  expect(findExhaustedBudget(account, UNSPENT, 0)).toBe(
    "Budget of dollars cannot be enforced: the amount spent of $2.0000 is unknown",
  );
  const unbounded = settle({ ...openAccount(FREE), reserved: { a: NO_AMOUNTS } }, "a", spent);
  expect(findExhaustedBudget(unbounded, UNSPENT, 0)).toBeUndefined();
});
