import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_AMOUNTS } from "../../src/core/budget/amounts.ts";
import {
  addParts,
  getSpentByJob,
  type JobState,
  openJob,
  partWord,
  requestStop,
} from "../../src/core/job/job.ts";
import { jobDashboard } from "../../src/core/job/job-dashboard.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import { beginPart, endPart, recallPart, settlePart } from "../../src/core/job/parts.ts";
import { decideAfterRound } from "../../src/core/job/rounds.ts";
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
    used: { ...NO_AMOUNTS, turns },
  },
});

function begun(state: JobState, index: number, waiting: number) {
  const result = beginPart(state, index, waiting, 0);
  if (result.type === "denied") throw new Error(result.outcome.reason);
  return result;
}

describe("the budget of a job", () => {
  test("gives each waiting part an equal share, and frees what a finished part leaves unspent [SUB-03.3]", () => {
    const first = begun(job(4, 40), 0, 4);
    expect(first.allocation.turns).toBe(10);
    const second = begun(first.state, 1, 3);
    expect(second.allocation.turns).toBe(10);
    const over = endPart(second.state, 0, ended(1), 0);
    expect(begun(over, 2, 2).allocation.turns).toBe(14);
  });

  test("keeps a share reserved until its use is known", () => {
    const first = begun(job(2, 10), 0, 1);
    const gone: PartEnd = { type: "lost", reason: "it was terminated", cause: "ended" };
    const over = endPart(first.state, 0, gone, 0, "when-known");
    expect(over.counts).toMatchObject({ failed: 1, waiting: 1 });
    expect(beginPart(over, 1, 1, 0)).toMatchObject({ type: "denied" });
    const settled = settlePart(over, 0, { ...NO_AMOUNTS, turns: 4 });
    expect(begun(settled, 1, 1).allocation.turns).toBe(6);
    expect(settlePart(settled, 0, { ...NO_AMOUNTS, turns: 4 })).toBe(settled);
  });

  test("denies a part with a reason when nothing is left", () => {
    const first = begun(job(2, 1), 0, 1);
    const over = endPart(first.state, 0, ended(1), 0);
    expect(beginPart(over, 1, 1, 0)).toMatchObject({
      type: "denied",
      outcome: { type: "limit-reached", reason: "Budget of turns reached: none left of 1 (1 spent)" },
      state: { counts: { completed: 1, "limit-reached": 1, waiting: 0 } },
    });
  });
});

describe("the decision after a round of an autonomous agent", () => {
  const limits = { maxIdleRounds: 3, maxRounds: 10 };
  const now = { idle: 0, rounds: 1, waiting: false };

  test.each([
    ["reports that it is done", { type: "done", summary: "ok" } as const, now, { type: "end", isDone: true }],
    ["sleeps", { type: "sleep", seconds: 9, reason: "r" } as const, now, { type: "sleep", seconds: 9 }],
    ["reports nothing", undefined, now, { type: "round", idleRounds: 1 }],
    [
      "reports nothing once too often",
      undefined,
      { ...now, idle: 2 },
      { type: "end", outcome: { type: "limit-reached" } },
    ],
    [
      "is done while messages wait",
      { type: "done", summary: "ok" } as const,
      { ...now, waiting: true },
      { type: "round", idleRounds: 0 },
    ],
    [
      "sleeps while messages wait",
      { type: "sleep", seconds: 9, reason: "r" } as const,
      { ...now, waiting: true },
      { type: "round", idleRounds: 0 },
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
      { type: "end", isDone: true },
    ],
  ])("one that %s", (_, rest, at, expected) => {
    expect(decideAfterRound(answered, rest, at, limits)).toMatchObject(expected);
  });

  test("is another round after one that reached its limit, and the end after one that failed", () => {
    expect(decideAfterRound({ type: "limit-reached", reason: "50/50" }, undefined, now, limits)).toEqual({
      type: "round",
      idleRounds: 1,
    });
    const failed: Outcome = { type: "failed", fault: "auth", message: "no" };
    expect(decideAfterRound(failed, undefined, now, limits)).toEqual({
      type: "end",
      outcome: failed,
      isDone: false,
    });
  });
});

describe("any actions of the parts, in any order", () => {
  type Step =
    | { readonly type: "add" }
    | { readonly type: "begin"; readonly part: number; readonly waiting: number }
    | {
        readonly type: "end";
        readonly part: number;
        readonly spends: number;
        readonly reason: PartEnd["type"];
      }
    | { readonly type: "stop" };
  const part = fc.nat(9);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ type: fc.constant("add" as const) }),
    fc.record({ type: fc.constant("begin" as const), part, waiting: fc.integer({ min: 1, max: 9 }) }),
    fc.record({
      type: fc.constant("end" as const),
      part,
      spends: fc.double({ min: 0, max: 1, noNaN: true }),
      reason: fc.constantFrom("reported" as const, "lost" as const),
    }),
    fc.record({ type: fc.constant("stop" as const) }),
  );
  const plan = (at: number) => ({ name: `q${at}`, agent: "a", session: `j.q${at}` });

  function play(steps: readonly Step[], maxTurns: number, each: (before: JobState, after: JobState) => void) {
    let state = job(3, maxTurns);
    const given = new Map<number, number>();
    for (const one of steps) {
      const before = state;
      if (one.type === "add") state = addParts(state, [plan(state.parts.length)]);
      if (one.type === "stop") state = requestStop(state, "enough");
      if (one.type === "begin" && state.parts[one.part]?.state === "waiting") {
        const result = beginPart(state, one.part, one.waiting, 0);
        state = result.state;
        if (result.type === "started") given.set(one.part, result.allocation.turns ?? 0);
      }
      if (one.type === "end") {
        const turns = Math.floor(one.spends * (given.get(one.part) ?? 0));
        const { report } = ended(turns);
        const lost = { type: "lost", reason: "gone", cause: "ended", ...(report && { report }) } as const;
        state = endPart(state, one.part, one.reason === "lost" ? lost : ended(turns), 0);
      }
      each(before, state);
    }
    return state;
  }

  test("never spend and reserve more than the limit [SUB-03.3]", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 50 }), (steps, maxTurns) => {
        play(steps, maxTurns, (_, { account }) => {
          const aside = Object.values(account.reserved).reduce((sum, { turns }) => sum + turns, 0);
          expect(account.settled.turns + aside).toBeLessThanOrEqual(maxTurns);
        });
      }),
    );
  });

  test("start no part after a stop, and reserve nothing once the running parts have ended", () => {
    const steps = fc.array(step, { maxLength: 20 });
    const cancelled: PartEnd = { type: "lost", reason: "it was terminated", cause: "given-up" };
    fc.assert(
      fc.property(steps, steps, (earlier, later) => {
        const over = play([...earlier, { type: "stop" }, ...later], 20, (before, after) => {
          if (before.stop === undefined) return;
          for (const [at, one] of after.parts.entries())
            if (one.state === "running") expect(before.parts[at]).toBe(one);
        });
        const ends = over.parts.reduce((state, _, at) => endPart(state, at, cancelled, 0), over);
        expect(ends.account.reserved).toEqual({});
        for (const { state, outcome } of ends.parts)
          expect(state).toBe(outcome === undefined ? "waiting" : "done");
        expect(buildJobStatus(ends, {}, 0)).toMatchObject({
          status: "stopping",
          job: { counts: { running: 0 } },
        });
      }),
    );
  });

  test("end each part once, and keep the counts and the spending equal to those of the parts", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const over = play(steps, 20, (before, after) => {
          for (const [index, was] of before.parts.entries())
            if (was.state === "done") expect(after.parts[index]).toBe(was);
          const words = after.parts.map(partWord);
          for (const [word, count] of Object.entries(after.counts))
            expect(count).toBe(words.filter((one) => one === word).length);
        });
        const running = over.parts.flatMap(({ state }, index) => (state === "running" ? [index] : []));
        const ends = running.reduce((state, index) => endPart(state, index, ended(0), 0), over);
        expect(ends.account.reserved).toEqual({});
        expect(ends.counts.running).toBe(0);
        const spent = ends.parts.reduce((sum, { spent }) => sum + spent.turns, 0);
        expect(getSpentByJob(ends).turns).toBe(spent);
      }),
    );
  });
});

test("a job keeps the first reason of a stop, and ignores a stop after its end", () => {
  const stopped = requestStop(job(1, null), "enough");
  expect(stopped.stop).toEqual({ reason: "enough" });
  expect(requestStop(stopped, "again")).toBe(stopped);
  const over = { ...job(1, null), outcome: answered };
  expect(requestStop(over, "late")).toBe(over);
  expect(buildJobStatus(stopped, {}, 0)).toMatchObject({ status: "stopping", job: { stop: "enough" } });
});

test("a part that an earlier start of the job completed is done, and its spending counts", () => {
  const { report } = ended(3);
  const recalled = recallPart(job(2, 5), 0, report!);
  expect(recalled.parts[0]).toMatchObject({ state: "done", outcome: answered, spent: { turns: 3 } });
  expect(begun(recalled, 1, 1).allocation.turns).toBe(2);
});

test("status and dashboard stay small with many parts, and no name breaks the table", () => {
  const name = "a|b\n".repeat(40);
  const plans = Array.from({ length: 5000 }, () => ({
    name,
    agent: name,
    session: "s",
    task: name,
    model: name,
  }));
  let state = addParts({ ...job(0, null), goal: "x".repeat(256) }, plans);
  for (let index = 0; index < 300; index += 1) {
    state = begun(state, index, 1).state;
    if (index % 2 === 0) state = endPart(state, index, ended(1), 0);
  }
  const status = buildJobStatus(state, {}, 0);
  expect(status).toMatchObject({
    status: "running",
    statusText: "150 parts are running",
    job: { mode: "fan-out", counts: { waiting: 4700, running: 150, completed: 150 } },
  });
  expect(status.job.parts).toHaveLength(200);
  expect(status.job.parts.filter((part) => part.state === "running")).toHaveLength(150);
  const text = jobDashboard(status);
  expect(Buffer.byteLength(text)).toBeLessThan(20_000);
  expect(text).toContain("4700 waiting, 150 running, 150 completed");
  expect(text).toContain("and 4960 more");
  expect(text.split("\n").filter((line) => line.startsWith("| a"))).toHaveLength(40);
});

test("status and dashboard show the reserved, used and remaining budget while the job runs", () => {
  const first = begun(job(2, 10), 0, 2);
  const show = (state: JobState) => jobDashboard(buildJobStatus(state, {}, 0));
  const turns = (state: JobState) => buildJobStatus(state, {}, 0).budget?.turns;
  expect(turns(first.state)).toEqual({ limit: 10, used: 0, reserved: 5, remaining: 5 });
  expect(show(first.state)).toContain("turns 0 + 5 set aside of 10");
  const over = endPart(first.state, 0, ended(3), 0);
  expect(turns(over)).toEqual({ limit: 10, used: 3, reserved: 0, remaining: 7 });
  expect(show(job(1, null))).toContain("**Budget**: without limit");
  expect(buildJobStatus({ ...over, outcome: answered }, {}, 0).budget).toBeUndefined();
});
