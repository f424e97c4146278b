import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_AMOUNTS } from "../../src/core/budget/amounts.ts";
import { addParts, getSpentByJob, type JobState, partWord, requestStop } from "../../src/core/job/job.ts";
import { buildJobStatus } from "../../src/core/job/job-status.ts";
import {
  beginPart,
  endPart,
  getNextRound,
  getOutcome,
  recallPart,
  refusePart,
  reserveShares,
  settlePart,
  startPart,
} from "../../src/core/job/parts.ts";
import type { PartEnd } from "../../src/core/machine/task.ts";
import { ANSWERED, begun, openParts, reported } from "./support/jobs.ts";

describe("the budget of a job", () => {
  test("gives each waiting part an equal share, and frees what a finished part leaves unspent [SUB-03.3]", () => {
    const first = begun(openParts(4, { maxTurns: 40 }), 0, 4);
    expect(first.allocation.turns).toBe(10);
    const second = begun(first.state, 1, 3);
    expect(second.allocation.turns).toBe(10);
    const over = endPart(second.state, 0, reported(1), 0);
    expect(begun(over, 2, 2).allocation.turns).toBe(14);
  });

  test("keeps a share reserved until its use is known", () => {
    const first = begun(openParts(2, { maxTurns: 10 }), 0, 1);
    const gone: PartEnd = { type: "lost", reason: "it was terminated", cause: "ended" };
    const over = endPart(first.state, 0, gone, 0, "when-known");
    expect(over.counts).toMatchObject({ failed: 1, waiting: 1 });
    expect(beginPart(over, 1, 1, 0)).toMatchObject({ type: "denied" });
    const settled = settlePart(over, 0, { ...NO_AMOUNTS, turns: 4 });
    expect(begun(settled, 1, 1).allocation.turns).toBe(6);
    expect(settlePart(settled, 0, { ...NO_AMOUNTS, turns: 4 })).toBe(settled);
  });

  test("denies a part with a reason when nothing is left", () => {
    const first = begun(openParts(2, { maxTurns: 1 }), 0, 1);
    const over = endPart(first.state, 0, reported(1), 0);
    expect(beginPart(over, 1, 1, 0)).toMatchObject({
      type: "denied",
      outcome: { type: "limit-reached", reason: "Budget of turns reached: none left of 1 (1 spent)" },
      state: { counts: { completed: 1, "limit-reached": 1, waiting: 0 } },
    });
  });

  test("does not divide what has no limit", () => {
    expect(begun(openParts(3), 0, 3).allocation).toEqual({
      turns: null,
      tokens: null,
      nanoUsd: null,
      children: null,
      deadlineMs: null,
      depth: 99,
    });
  });

  test.each([
    ["turns", { maxTurns: 2, maxTotalTokens: 100, maxCostUsd: 1e-7 }],
    ["tokens", { maxTurns: 100, maxTotalTokens: 2, maxCostUsd: 1e-7 }],
    ["nanoUsd", { maxTurns: 100, maxTotalTokens: 100, maxCostUsd: 2e-9 }],
  ])("is divided among as many parts as can have some of the %s", (scarce, limits) => {
    const shares = { turns: 50, tokens: 50, nanoUsd: 50 };
    expect(begun(openParts(4, limits), 0, 4).allocation).toMatchObject({ ...shares, [scarce]: 1 });
  });

  test("numbers the shares, and reserves none for a part that is denied", () => {
    const own = begun(openParts(1), 0, 1).allocation;
    const three = [0, 1, 2].map((part) => ({ part, own: { ...own, turns: 1 } }));
    const { state, reservations } = reserveShares(openParts(5, { maxTurns: 2 }), three, 0);
    expect(reservations.map(({ type }) => type)).toEqual(["reserved", "reserved", "denied"]);
    expect(state.parts.map(({ share }) => share)).toEqual(["0", "1", undefined, undefined, undefined]);
    const freed = settlePart(state, 0, NO_AMOUNTS);
    const later = reserveShares(freed, [{ part: 3, own }], 0).state;
    expect(Object.keys(later.account.reserved)).toEqual(["1", "3"]);
    expect(later.parts[3]?.share).toBe("3");
  });

  test("settles a share at once when there is a report, whatever is awaited for the others", () => {
    const over = endPart(begun(openParts(1, { maxTurns: 9 }), 0, 1).state, 0, reported(4), 0, "when-known");
    expect(over.account).toMatchObject({ reserved: {}, settled: { turns: 4 } });
  });
});

describe("a part", () => {
  test("does not begin after a stop, and keeps waiting", () => {
    const stopped = requestStop(openParts(1), "enough");
    expect(beginPart(stopped, 0, 1, 0)).toEqual({
      type: "denied",
      state: stopped,
      outcome: { type: "stopped", reason: "enough" },
    });
  });

  test("is refused with the reason as its outcome", () => {
    const [part] = refusePart(openParts(1), 0, "no turns", 7).parts;
    expect(part).toMatchObject({
      state: "done",
      outcome: { type: "limit-reached", reason: "no turns" },
      endedAtMs: 7,
    });
  });

  test("names its workflow only when that differs from the session", () => {
    expect(startPart(openParts(1), 0, 5, "w").parts[0]).toMatchObject({
      state: "running",
      startedAtMs: 5,
      workflow: "w",
    });
    expect(startPart(openParts(1), 0, 5).parts[0]).not.toHaveProperty("workflow");
  });

  test("that the job does not have changes nothing", () => {
    const state = openParts(1);
    expect(startPart(state, 1, 0)).toBe(state);
    expect(endPart(state, 1, reported(1), 0)).toBe(state);
  });

  test("keeps the place of its answer from the report", () => {
    const end = reported(1, { branch: "b", loopId: "s.m.1", position: 4 });
    const over = endPart(begun(openParts(2), 0, 1).state, 0, end, 9);
    expect(over.parts).toMatchObject([{ name: "p0", state: "done", endedAtMs: 9 }, { name: "p1" }]);
    expect(over.parts[0]?.report).toEqual({ branch: "b", loopId: "s.m.1", position: 4 });
    expect(over.parts[0]).not.toHaveProperty("lost");
  });

  test("whose run is lost has failed, with the reason", () => {
    const lost: PartEnd = { type: "lost", reason: "it was terminated", cause: "ended" };
    const [part] = endPart(begun(openParts(1), 0, 1).state, 0, lost, 0).parts;
    expect(part).toMatchObject({
      outcome: { type: "failed", fault: "lost", message: "It ended without a result: it was terminated" },
      lost: { reason: "it was terminated", cause: "ended" },
    });
    expect(part).not.toHaveProperty("report");
    expect(getOutcome(reported(1))).toBe(ANSWERED);
  });

  test("reports how its work continues, if it has a report", () => {
    const nextRound = { type: "sleep", seconds: 9, reason: "r" } as const;
    expect(getNextRound(reported(1, { nextRound }))).toBe(nextRound);
    expect(getNextRound({ type: "lost", reason: "gone", cause: "ended" })).toBeUndefined();
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
    let state = openParts(3, { maxTurns });
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
        const { report } = reported(turns);
        const lost = { type: "lost", reason: "gone", cause: "ended", ...(report && { report }) } as const;
        state = endPart(state, one.part, one.reason === "lost" ? lost : reported(turns), 0);
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
        const ends = running.reduce((state, index) => endPart(state, index, reported(0), 0), over);
        expect(ends.account.reserved).toEqual({});
        expect(ends.counts.running).toBe(0);
        const spent = ends.parts.reduce((sum, { spent }) => sum + spent.turns, 0);
        expect(getSpentByJob(ends).turns).toBe(spent);
      }),
    );
  });
});

test("a job keeps the first reason of a stop, and ignores a stop after its end", () => {
  const stopped = requestStop(openParts(1), "enough");
  expect(stopped.stop).toEqual({ reason: "enough" });
  expect(requestStop(stopped, "again")).toBe(stopped);
  const over = { ...openParts(1), outcome: ANSWERED };
  expect(requestStop(over, "late")).toBe(over);
  expect(buildJobStatus(stopped, {}, 0)).toMatchObject({ status: "stopping", job: { stop: "enough" } });
});

test("a part that an earlier start of the job completed is done, and its spending counts", () => {
  const { report } = reported(3);
  const recalled = recallPart(openParts(2, { maxTurns: 5 }), 0, report!);
  expect(recalled.parts[0]).toMatchObject({ state: "done", outcome: ANSWERED, spent: { turns: 3 } });
  expect(begun(recalled, 1, 1).allocation.turns).toBe(2);
});
