import { describe, expect, test } from "vitest";
import { buildJobResult, locateOutcome } from "../../src/core/job/job-result.ts";
import { endPart } from "../../src/core/job/parts.ts";
import { ANSWERED, begun, openParts, reported } from "./support/jobs.ts";

describe("the result of a job", () => {
  const used = { turns: 2, tokens: 30, nanoUsd: 500_000_000, children: 0 };
  const end = reported(2, { branch: "b", loopId: "s.m.1", position: 4, used });
  const endFirst = () => endPart(begun(openParts(2), 0, 1).state, 0, end, 0);

  test("sums what all parts used, and points at their answers", () => {
    const more = { text: "done", ref: "hash", bytes: 4 };
    expect(buildJobResult(endFirst(), ANSWERED, more)).toStrictEqual({
      job: "j",
      mode: "fan-out",
      outcome: ANSWERED,
      ...more,
      parts: [
        {
          name: "p0",
          agent: "a",
          session: "j.p0",
          outcome: ANSWERED,
          branch: "b",
          loopId: "s.m.1",
          position: 4,
          turns: 2,
          costUsd: 0.5,
        },
        { name: "p1", agent: "a", session: "j.p1", turns: 0, costUsd: 0 },
      ],
      turns: 2,
      tokens: 30,
      costUsd: 0.5,
    });
  });

  test("has no details that the job has not", () => {
    expect(Object.keys(buildJobResult(endFirst(), ANSWERED))).toEqual([
      "job",
      "mode",
      "outcome",
      "parts",
      "turns",
      "tokens",
      "costUsd",
    ]);
  });
});

describe("an outcome with the part in which it happened", () => {
  test("keeps the fault of a failure", () => {
    expect(locateOutcome("Stage 1", { type: "failed", fault: "auth", message: "no key" })).toEqual({
      type: "failed",
      fault: "auth",
      message: "Stage 1: no key",
    });
  });

  test.each([
    { type: "limit-reached", reason: "r" },
    { type: "stopped", reason: "r" },
    { type: "rejected", reason: "r" },
    { type: "ended", by: "guard", reason: "r" },
    { type: "paused", by: "t", reason: "r" },
    { type: "handoff", by: "t", reason: "r" },
  ] as const)("names the part in the reason when it is $type", (outcome) => {
    expect(locateOutcome("Stage 1", outcome)).toEqual({ ...outcome, reason: "Stage 1: r" });
  });

  test.each([ANSWERED, { type: "delivered", messages: 1 } as const])(
    "is unchanged when it is $type",
    (outcome) => {
      expect(locateOutcome("Stage 1", outcome)).toBe(outcome);
    },
  );
});
