import { describe, expect, test } from "vitest";
import { openAccount } from "../../src/core/budget/account.ts";
import type { Allowance } from "../../src/core/budget/account-state.ts";
import { minAllowance, NO_AMOUNTS, toNanoUsd, toUsd } from "../../src/core/budget/amounts.ts";
import { NO_SPENDING, type Spent } from "../../src/core/budget/limits.ts";
import { reserve } from "../../src/core/budget/reserve.ts";
import { findExhaustedBudget, formatShortage } from "../../src/core/budget/shortage.ts";

const FREE: Allowance = {
  ...{ turns: null, tokens: null, nanoUsd: null, children: null, deadlineMs: null },
  depth: 9,
};
const accountOf = (own: Partial<Allowance>) => openAccount({ ...FREE, ...own });
/** Reserves for children with these allowances. */
const begin = (own: Partial<Allowance>, children: readonly Partial<Allowance>[], spent = NO_SPENDING) =>
  reserve(
    accountOf(own),
    spent,
    children.map((child, index) => ({ id: `c${index}`, own: { ...FREE, ...child } })),
    0,
  );
const allocationsOf = ({ reservations }: ReturnType<typeof begin>) =>
  reservations.map((each) => (each.type === "reserved" ? each.allocation : undefined));
const reasonsOf = ({ reservations }: ReturnType<typeof begin>) =>
  reservations.map((each) => (each.type === "denied" ? each.reason : undefined));

describe("a reservation", () => {
  test("is a share of each limit, and one agent more than the child may start", () => {
    const own = { turns: 4, tokens: 40, nanoUsd: 400, children: 5, deadlineMs: 900, depth: 2 };
    const begun = begin(own, [{}]);
    const allocation = { turns: 2, tokens: 20, nanoUsd: 200, children: 2, deadlineMs: 900, depth: 1 };
    expect(begun.reservations).toEqual([{ type: "reserved", id: "c0", allocation }]);
    expect(begun.account).toEqual({
      ...accountOf(own),
      reserved: { c0: { turns: 2, tokens: 20, nanoUsd: 200, children: 3 } },
    });
  });

  test("is what the child's own definition allows where the agent has no limit", () => {
    const own = { turns: 3, tokens: 30, nanoUsd: 300, children: 5, deadlineMs: 700, depth: 1 };
    const { account, reservations } = begin({}, [own, {}]);
    expect(reservations).toEqual([
      { type: "reserved", id: "c0", allocation: own },
      { type: "reserved", id: "c1", allocation: { ...FREE, depth: 8 } },
    ]);
    expect(account.reserved).toEqual({
      c0: { turns: 3, tokens: 30, nanoUsd: 300, children: 6 },
      c1: { ...NO_AMOUNTS, children: 1 },
    });
  });

  test("is beside those that are open", () => {
    const { account } = begin({ tokens: 40 }, [{ tokens: 10 }]);
    const next = reserve(account, NO_SPENDING, [{ id: "later", own: FREE }], 0);
    expect(next.account.reserved).toEqual({
      c0: { ...NO_AMOUNTS, tokens: 10, children: 1 },
      later: { ...NO_AMOUNTS, tokens: 15, children: 1 },
    });
  });

  test("allows no further sub-agents to a child at the last level", () => {
    expect(allocationsOf(begin({ depth: 1 }, [{ children: 5 }]))).toMatchObject([{ depth: 0, children: 0 }]);
    expect(allocationsOf(begin({ depth: 2 }, [{ depth: 0, children: 5 }]))).toMatchObject([
      { depth: 0, children: 0 },
    ]);
  });

  test("is denied to all when less than nothing is left beside the agent's own share", () => {
    for (const own of [{ turns: 0 }, { tokens: 0 }, { nanoUsd: 0 }, { children: 0 }]) {
      expect(allocationsOf(begin(own, [{}, {}, {}]))).toEqual([undefined, undefined, undefined]);
    }
  });

  test("is for one child when the agent has one of everything beside it", () => {
    const least = { turns: 2, tokens: 2, nanoUsd: 2, children: 1 };
    expect(allocationsOf(begin(least, [{}, {}]))).toEqual([
      { turns: 1, tokens: 1, nanoUsd: 1, children: 0, deadlineMs: null, depth: 8 },
      undefined,
    ]);
  });

  test("is denied for the first amount that is short, or for one that is shorter", () => {
    const reasonFor = (own: Partial<Allowance>) =>
      reasonsOf(begin(own, [{}, {}, {}]))[2]?.replace(/ are left.*/, "");
    expect(reasonFor({ turns: 3, tokens: 3, nanoUsd: 3, children: 2 })).toBe("Not started: too few turns");
    expect(reasonFor({ turns: 3, tokens: 2, children: 1 })).toBe("Not started: too few tokens");
    expect(reasonFor({ turns: 3, children: 1 })).toBe("Not started: too few sub-agents");
    expect(reasonFor({ turns: 4, nanoUsd: 3 })).toBe("Not started: too few dollars");
  });

  test("of dollars is denied when it is unknown what was spent, and the agents that are running are told", () => {
    const spent: Spent = { ...NO_SPENDING, costUsd: null };
    expect(reasonsOf(begin({ nanoUsd: toNanoUsd(2) }, [{}], spent))).toEqual([
      "Not started: too few dollars are left for one more agent, $0.0000 of $2.0000 (— spent). Do the task yourself, or finish with the results that you have.",
    ]);
    const { account } = begin({ nanoUsd: toNanoUsd(2) }, [{}]);
    expect(formatShortage("nanoUsd", account, NO_SPENDING, 0)).toBe(
      "Not started: too few dollars are left for one more agent, $1.0000 of $2.0000 ($0.0000 spent, $1.0000 reserved for running agents). Wait for the agents that are running: you get back what they do not use.",
    );
  });
});

describe("an exhausted budget", () => {
  test("is the first amount of which nothing is left", () => {
    const reached = (own: Partial<Allowance>, spent = NO_SPENDING) =>
      findExhaustedBudget(accountOf(own), spent, 0);
    expect(reached({ turns: 0, tokens: 0, nanoUsd: 0, deadlineMs: 0 })).toMatch(/^Budget of turns/);
    expect(reached({ turns: 1, tokens: 0, nanoUsd: 0, deadlineMs: 0 })).toMatch(/^Budget of tokens/);
    expect(reached({ turns: 1, tokens: 1, nanoUsd: 0, deadlineMs: 0 })).toMatch(/^Budget of dollars reached/);
    expect(reached({ turns: 1, tokens: 1, nanoUsd: 1, deadlineMs: 0 })).toMatch(/^Budget of time/);
    expect(reached({ turns: 1, tokens: 1, nanoUsd: 1, deadlineMs: 1, children: 0 })).toBeUndefined();
    const unknown = { ...NO_SPENDING, costUsd: null };
    expect(reached({ turns: 0, nanoUsd: 1 }, unknown)).toBe(
      "Budget of turns reached: none left of 0 (0 spent)",
    );
    expect(reached({ tokens: 0, nanoUsd: 1 }, unknown)).toMatch(/^Budget of tokens/);
  });
});

describe("an allowance", () => {
  const small = { turns: 1, tokens: 2, nanoUsd: 3, children: 4, deadlineMs: 5, depth: 6 };
  const large = { turns: 11, tokens: 12, nanoUsd: 13, children: 14, deadlineMs: 15, depth: 16 };

  test("of two is the smaller part of each, and a limit is smaller than none", () => {
    expect([minAllowance(small, large), minAllowance(large, small)]).toEqual([small, small]);
    expect(minAllowance({ ...small, turns: 21 }, large)).toEqual({ ...small, turns: 11 });
    expect(minAllowance(small, { ...FREE, depth: 7 })).toEqual(small);
    expect(minAllowance({ ...FREE, depth: 7 }, small)).toEqual(small);
    expect(minAllowance(FREE, FREE)).toEqual(FREE);
  });

  test("of dollars stays unknown or unlimited in both units", () => {
    expect([toNanoUsd(null), toUsd(null)]).toEqual([null, null]);
    expect([toNanoUsd(0.5), toUsd(500_000_000)]).toEqual([500_000_000, 0.5]);
  });
});
