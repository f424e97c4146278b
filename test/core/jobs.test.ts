import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOTHING } from "../../src/core/budget/amounts.ts";
import { beginPart, endPart, type JobState, openJob, usedByJob } from "../../src/core/job/job.ts";
import { jobDashboard, jobStatus } from "../../src/core/job/job-status.ts";
import { afterRound } from "../../src/core/job/rounds.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import type { Outcome } from "../../src/schema/record.ts";

const NO_LIMITS = { maxTurns: null, maxTotalTokens: null, maxDurationMs: null, maxCostUsd: null };
const answered: Outcome = { type: "answered", stopReason: "stop" };

function job(parts: number, maxTurns: number | null): JobState {
  return openJob({
    job: "j",
    mode: "fan-out",
    goal: "go",
    parts: Array.from({ length: parts }, (_, at) => ({ name: `p${at}`, agent: "a", session: `j.p${at}` })),
    limits: { ...NO_LIMITS, maxTurns },
    nowMs: 0,
  });
}

const ended = (turns: number): PartEnd => ({
  type: "reported",
  report: {
    session: "s",
    outcome: answered,
    branch: "main",
    tokens: 0,
    messages: 0,
    used: { ...NOTHING, turns },
  },
});

function begun(state: JobState, index: number, waiting: number) {
  const result = beginPart(state, index, waiting, 0);
  if (result.type === "refused") throw new Error(result.reason);
  return result;
}

describe("what a job may spend", () => {
  test("a part gets a fair share of what all that wait may have, and what it leaves is free again [SUB-03]", () => {
    const first = begun(job(4, 40), 0, 4);
    expect(first.given.turns).toBe(10);
    const second = begun(first.state, 1, 3);
    expect(second.given.turns).toBe(10);
    const over = endPart(second.state, 0, first.share, ended(1));
    expect(begun(over, 2, 2).given.turns).toBe(14);
  });

  test("whatever the parts and their order: what is given out is never more than the limit [SUB-03]", () => {
    const spending = fc.array(
      fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }), wait: fc.nat(3) }),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(spending, fc.integer({ min: 1, max: 50 }), (parts, maxTurns) => {
        let state = job(parts.length, maxTurns);
        const open: { index: number; share: string; turns: number }[] = [];
        const close = () => {
          const one = open.shift();
          if (one !== undefined) state = endPart(state, one.index, one.share, ended(one.turns));
        };
        for (const [index, { part, wait }] of parts.entries()) {
          const result = beginPart(state, index, parts.length - index, 0);
          if (result.type === "begun") {
            state = result.state;
            const given = result.given.turns ?? 0;
            expect(given).toBeGreaterThan(0);
            open.push({ index, share: result.share, turns: Math.floor(part * given) });
          }
          while (open.length > wait) close();
        }
        while (open.length > 0) close();
        expect(usedByJob(state).turns).toBeLessThanOrEqual(maxTurns);
        expect(Object.keys(state.account.open)).toEqual([]);
      }),
    );
  });

  test("with nothing left, a part is refused with a reason", () => {
    const first = begun(job(2, 1), 0, 1);
    const over = endPart(first.state, 0, first.share, ended(1));
    expect(beginPart(over, 1, 1, 0)).toMatchObject({
      type: "refused",
      reason: "Budget of turns reached: none left of 1 (1 spent)",
    });
  });
});

describe("how an autonomous agent goes on", () => {
  const limits = { maxIdleRounds: 3, maxRounds: 10 };
  const now = { idle: 0, rounds: 1, waiting: false };

  test.each([
    ["says that it is done", { type: "done", summary: "ok" } as const, now, { type: "end", done: true }],
    ["sleeps", { type: "sleep", seconds: 9, reason: "r" } as const, now, { type: "sleep", seconds: 9 }],
    ["says nothing", undefined, now, { type: "round", idle: 1 }],
    [
      "says nothing once too often",
      undefined,
      { ...now, idle: 2 },
      { type: "end", outcome: { type: "limit-reached" } },
    ],
    [
      "is done, and words wait",
      { type: "done", summary: "ok" } as const,
      { ...now, waiting: true },
      { type: "round", idle: 0 },
    ],
    [
      "sleeps, and words wait",
      { type: "sleep", seconds: 9, reason: "r" } as const,
      { ...now, waiting: true },
      { type: "round", idle: 0 },
    ],
    [
      "sleeps in its last round",
      { type: "sleep", seconds: 9, reason: "r" } as const,
      { ...now, rounds: 10 },
      { type: "end", outcome: { reason: "Max rounds reached (10/10)" } },
    ],
    [
      "is done in its last round",
      { type: "done", summary: "ok" } as const,
      { ...now, rounds: 10, waiting: true },
      { type: "end", done: true },
    ],
  ])("one that %s", (_, rest, at, expected) => {
    expect(afterRound(answered, rest, at, limits)).toMatchObject(expected);
  });

  test("a round at its own limit is followed by another; one that failed ends it", () => {
    expect(afterRound({ type: "limit-reached", reason: "50/50" }, undefined, now, limits)).toEqual({
      type: "round",
      idle: 1,
    });
    const failed: Outcome = { type: "failed", fault: "auth", message: "no" };
    expect(afterRound(failed, undefined, now, limits)).toEqual({ type: "end", outcome: failed, done: false });
  });
});

test("status and dashboard of many parts stay small, and no name breaks the table", () => {
  const state = { ...job(500, null), goal: "x".repeat(256) };
  const odd = { ...state, parts: state.parts.map((part) => ({ ...part, name: "a|b\n".repeat(40) })) };
  const text = jobDashboard(odd, 0);
  expect(Buffer.byteLength(text)).toBeLessThan(10_240);
  expect(text).toContain("and 480 more");
  expect(text.split("\n").filter((line) => line.startsWith("| a"))).toHaveLength(20);
  expect(jobStatus(state, 0)).toMatchObject({ status: "running", agent: "a", job: { mode: "fan-out" } });
});

test("status and dashboard show what of the budget is set aside, used and left, while the job runs", () => {
  const begun = beginPart(job(2, 10), 0, 2, 0);
  if (begun.type !== "begun") throw new Error(begun.reason);
  expect(jobStatus(begun.state, 0).budget?.turns).toEqual({ limit: 10, used: 0, reserved: 5, left: 5 });
  expect(jobDashboard(begun.state, 0)).toContain("turns 0 + 5 set aside of 10");
  const over = endPart(begun.state, 0, begun.share, ended(3));
  expect(jobStatus(over, 0).budget?.turns).toEqual({ limit: 10, used: 3, reserved: 0, left: 7 });
  expect(jobDashboard(job(1, null), 0)).toContain("**Budget**: without limit");
  expect(jobStatus({ ...over, outcome: answered }, 0).budget).toBeUndefined();
});
