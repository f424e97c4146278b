import { ActivityFailure, ApplicationFailure, RetryState } from "@temporalio/common";
import { describe, expect, test } from "vitest";
import { toStepFailure } from "../../src/workflows/step-failure.ts";

function failedWith(type: string, ...details: readonly unknown[]) {
  const cause = ApplicationFailure.create({
    type,
    message: "why",
    nonRetryable: true,
    details: [...details],
  });
  return new ActivityFailure("failed", "call-model", "7", RetryState.NON_RETRYABLE_FAILURE, "worker", cause);
}

describe("what the failure of an activity means for the machine", () => {
  test("a worker that shuts down has released the step: it has not died", () => {
    expect(toStepFailure(failedWith("released"), false)).toEqual({
      type: "lost",
      attempts: 0,
      isReleased: true,
    });
  });

  test.each(["WorkerLost", "fenced"])("%s: the worker died, after so many calls of the vendor", (type) => {
    expect(toStepFailure(failedWith(type, { attempts: 2 }), false)).toEqual({ type: "lost", attempts: 2 });
    expect(toStepFailure(failedWith(type), false)).toEqual({ type: "lost", attempts: 0 });
  });

  test("any other type is a fault, whose area is left out", () => {
    expect(toStepFailure(failedWith("provider/rate-limited"), false)).toEqual({
      type: "failed",
      failure: { fault: "rate-limited", message: "why" },
    });
  });

  test("what is no failure of an activity is thrown", () => {
    const bug = new TypeError("a bug");
    expect(() => toStepFailure(bug, false)).toThrow(bug);
  });
});
