import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import { countLostWorkers, MAX_LOST_IN_A_ROW } from "../core/machine/dispatch.ts";
import type { Outcome } from "../schema/record.ts";
import { isMessageInput } from "./run-input.ts";
import { toStepFailure } from "./step-failure.ts";

/** Fails the job with this problem unless the condition holds, because a request that a user types may be anything. */
export function mustBe(right: boolean, what: string): void {
  if (right) return;
  throw ApplicationFailure.nonRetryable(`The job cannot begin: ${what}`, "holdfast/invalid-request");
}

export function mustHaveTask(task: unknown): void {
  mustBe(isMessageInput(task), "`task` must be a text, or an object with `text` or `ref`");
}

/** Runs a step of the job itself, and retries it when its worker was lost: at most three times in a row. */
export function throughLosses<Result>(step: () => Promise<Result>, lost = 0): Promise<Result> {
  return step().catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    const setback = toStepFailure(error, false);
    if (setback.type !== "lost") throw error;
    const now = countLostWorkers(lost, setback);
    if (now >= MAX_LOST_IN_A_ROW) throw error;
    return throughLosses(step, now);
  });
}

/** Converts the failure of a step of the job itself to an outcome. */
export function toFailedOutcome(error: unknown): Outcome {
  if (!(error instanceof ActivityFailure)) throw error;
  const setback = toStepFailure(error, false);
  if (setback.type === "failed") return { type: "failed", ...setback.failure };
  return { type: "failed", fault: setback.type, message: error.message };
}
