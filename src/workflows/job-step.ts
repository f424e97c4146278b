import { ActivityFailure, ApplicationFailure } from "@temporalio/common";
import { lostBy, MAX_LOST_IN_A_ROW } from "../core/issue.ts";
import type { Outcome } from "../schema/record.ts";
import { isWords } from "./input.ts";
import { setbackOf } from "./set-back.ts";

/** A request that somebody has typed may be anything: what is wrong with it is said, and the job ends. */
export function mustBe(right: boolean, what: string): void {
  if (right) return;
  throw ApplicationFailure.nonRetryable(`The job cannot begin: ${what}`, "holdfast/invalid-request");
}

export function mustHaveTask(task: unknown): void {
  mustBe(isWords(task), "`task` must be a text, or an object with `text` or `ref`");
}

/** A step of the job's own, made again where its worker was lost: three times in a row at most. */
export function throughLosses<Result>(step: () => Promise<Result>, lost = 0): Promise<Result> {
  return step().catch((error: unknown) => {
    if (!(error instanceof ActivityFailure)) throw error;
    const setback = setbackOf(error, false);
    if (setback.type !== "lost") throw error;
    const now = lostBy(lost, setback);
    if (now >= MAX_LOST_IN_A_ROW) throw error;
    return throughLosses(step, now);
  });
}

/** What a step of the job's own failed with. */
export function failureOf(error: unknown): Outcome {
  if (!(error instanceof ActivityFailure)) throw error;
  const setback = setbackOf(error, false);
  if (setback.type === "failed") return { type: "failed", ...setback.failure };
  return { type: "failed", fault: setback.type, message: error.message };
}
