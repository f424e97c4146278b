import { describe, expect, test } from "vitest";
import { decideAfterRound, roundsStatus } from "../../src/core/job/rounds.ts";
import type { Outcome } from "../../src/schema/record.ts";
import { ANSWERED } from "./support/jobs.ts";

describe("the decision after a round of an autonomous agent", () => {
  const limits = { maxIdleRounds: 3, maxRounds: 10 };
  const now = { idle: 0, rounds: 1, waiting: false };

  test.each([
    [
      "reports that it is done",
      { type: "done", summary: "ok" } as const,
      now,
      { type: "end", isDone: true, outcome: { type: "answered", stopReason: "stop" } },
    ],
    ["sleeps", { type: "sleep", seconds: 9, reason: "r" } as const, now, { type: "sleep", seconds: 9 }],
    ["reports nothing", undefined, now, { type: "round", idleRounds: 1 }],
    [
      "reports nothing once too often",
      undefined,
      { ...now, idle: 2 },
      {
        type: "end",
        isDone: false,
        outcome: {
          type: "limit-reached",
          reason: "3 consecutive rounds ended without a call to finish_work or sleep (maxIdleRounds 3)",
        },
      },
    ],
    [
      "reports nothing while messages wait",
      undefined,
      { ...now, idle: 2, waiting: true },
      { type: "round", idleRounds: 0 },
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
    expect(decideAfterRound(ANSWERED, rest, at, limits)).toMatchObject(expected);
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

  test("does not depend on the number of rounds without a limit", () => {
    const many = { ...now, rounds: 1_000_000 };
    expect(decideAfterRound(ANSWERED, undefined, many, { ...limits, maxRounds: null })).toEqual({
      type: "round",
      idleRounds: 1,
    });
  });
});

test("the status of rounds counts the waiting messages, and says when the next round begins", () => {
  const waiting = { messages: 2, bytes: 30 };
  expect(roundsStatus({ rounds: 3, waiting })).toEqual({
    queued: { steering: 0, followUps: 2, bytes: 30 },
    job: { rounds: 3 },
  });
  const refused = { messages: 1, newest: [{ id: "m", atMs: 5 }] };
  expect(roundsStatus({ rounds: 3, waiting, sleepsUntilMs: 9000, refused })).toMatchObject({
    rejectedMessages: refused,
    job: { rounds: 3, sleepsUntilMs: 9000 },
  });
});
