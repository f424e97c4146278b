import { describe, expect, test } from "vitest";
import type { Account, Allowance } from "../../src/core/budget/account-state.ts";
import { NO_AMOUNTS, toNanoUsd } from "../../src/core/budget/amounts.ts";
import { NO_SPENDING, type Spent } from "../../src/core/budget/limits.ts";
import { buildBudget, formatBudget, getLoopBudget } from "../../src/core/budget/loop-budget.ts";
import { play } from "./support/run.ts";
import { says } from "./support/script.ts";

const UNLIMITED: Allowance = {
  ...{ turns: null, tokens: null, nanoUsd: null, children: null, deadlineMs: null },
  depth: 1,
};
const accountOf = (own: Partial<Allowance>, rest: Partial<Account> = {}): Account => ({
  own: { ...UNLIMITED, ...own },
  settled: NO_AMOUNTS,
  reserved: {},
  ...rest,
});
const SPENT: Spent = { turns: 2, tokens: 30, durationMs: 1999, costUsd: 0.25 };
const RESERVED = { turns: 3, tokens: 50, nanoUsd: toNanoUsd(0.5), children: 2 };
const LIMITED = { turns: 10, tokens: 100, nanoUsd: toNanoUsd(2), children: 8, deadlineMs: 5999 };

describe("the budget of a loop", () => {
  test("has each limit with what is used, reserved and left of it", () => {
    const account = accountOf(LIMITED, {
      settled: { turns: 1, tokens: 7, nanoUsd: toNanoUsd(0.125), children: 1 },
      reserved: { a: RESERVED },
    });
    expect(buildBudget(account, SPENT, 4000, 1000)).toEqual({
      turns: { limit: 10, used: 3, reserved: 3, remaining: 4 },
      tokens: { limit: 100, used: 37, reserved: 50, remaining: 13 },
      usd: { limit: 2, used: 0.375, reserved: 0.5, remaining: 1.125 },
      children: { limit: 8, used: 1, reserved: 2, remaining: 5 },
      timeMs: { limit: 4000, used: 1999, remaining: 4999 },
    });
  });

  test("has no limit and no remainder of what is not limited, and nothing of dollars when a price is unknown", () => {
    const { usd, turns, timeMs } = buildBudget(accountOf({}), { ...SPENT, costUsd: null }, null, 0);
    expect(usd).toEqual({ limit: null, used: null, reserved: 0, remaining: null });
    expect(turns).toEqual({ limit: null, used: 2, reserved: 0, remaining: null });
    expect(timeMs).toEqual({ limit: null, used: 1999, remaining: null });
  });

  test("exists while a loop is open, from its first turn, with the duration of its definition as its time", async () => {
    const run = play({ limits: { maxTurns: 9, maxDurationMs: 60_000 }, replies: [says("done")] });
    expect(getLoopBudget(run.state)).toBeUndefined();
    await run.until("call-model");
    expect(getLoopBudget(run.state)).toMatchObject({ turns: { limit: 9 }, timeMs: { limit: 60_000 } });
    await run.settle();
    expect(getLoopBudget(run.state)).toBeUndefined();
  });
});

describe("the line about a budget", () => {
  const format = (account: Account, spent: Spent = SPENT, nowMs = 1000) =>
    formatBudget(buildBudget(account, spent, null, nowMs));

  test("has the parts that are limited, and the whole seconds that are left", () => {
    expect(format(accountOf(LIMITED))).toBe(
      "turns 2 of 10, tokens 30 of 100, cost $0.2500 of $2.0000, time 4 s left",
    );
    expect(format(accountOf({ tokens: 100 }))).toBe("tokens 30 of 100");
    expect(format(accountOf({ deadlineMs: 900 }))).toBe("time 0 s left");
    expect(format(accountOf({}))).toBe("");
  });

  test("has what is reserved for running sub-agents", () => {
    expect(format(accountOf({ ...LIMITED, deadlineMs: null }, { reserved: { a: RESERVED } }))).toBe(
      "turns 2 + 3 set aside of 10, tokens 30 + 50 set aside of 100, cost $0.2500 + $0.5000 set aside of $2.0000, sub-agents 0 + 2 set aside of 8",
    );
  });

  test("has the sub-agents once one has been started", () => {
    const settled = { ...NO_AMOUNTS, children: 1 };
    expect(format(accountOf({ children: 8 }, { settled }))).toBe("sub-agents 1 of 8");
    const reserved = { a: { ...NO_AMOUNTS, children: 1 } };
    expect(format(accountOf({ children: 8 }, { settled, reserved }))).toBe("sub-agents 1 + 1 set aside of 8");
  });

  test("has a dash for a cost that is unknown", () => {
    const spent = { ...NO_SPENDING, costUsd: null };
    expect(format(accountOf({ nanoUsd: toNanoUsd(1) }), spent)).toBe("cost — of $1.0000");
  });
});
