import {
  ApplicationError,
  computeBackoff,
  DefinitionError,
  MAX_MESSAGE_BYTES,
  VENDOR_MAY_RECOVER,
} from "../../../activities/step/failure.ts";
import type { StepFailure } from "../../../core/machine/state/run-event.ts";
import { planNextAttempt } from "../../../core/machine/vendor-wait.ts";
import { ProviderError } from "../../../models/provider-error.ts";
import { truncateForPreview } from "../../../platform/text/preview.ts";
import { Interrupted } from "./interrupted.ts";
import type { Stage } from "./stage.ts";

/** A fixed value in the middle of the random range, so that the plain driver is deterministic. */
const NO_JITTER = 0.5;

/**
 * Performs a step that calls a vendor, with Temporal's retries, until it succeeds or fails finally.
 *
 * @param deadlineMs - The deadline of a step whose run itself waits for long retry delays of the vendor.
 */
export async function withAttempts<Done>(
  stage: Stage,
  maxAttempts: number,
  work: (attempt: number) => Promise<Done>,
  deadlineMs?: number,
): Promise<{ readonly done: Done } | { readonly setback: StepFailure }> {
  const before = stage.vendor.requests;
  for (let attempt = 1; ; attempt++) {
    try {
      return { done: await work(attempt) };
    } catch (error) {
      if (error instanceof Interrupted) {
        const attempts = stage.vendor.requests - before;
        return { setback: error.how === "lost" ? { type: "lost", attempts } : { type: "cancelled" } };
      }
      // A wrong definition or strategy of an application is not retried.
      if (error instanceof ApplicationError) return buildFailure(error.fault, error.message);
      if (error instanceof DefinitionError) return buildFailure("invalid", error.message);
      if (!(error instanceof ProviderError)) throw error;
      const { fault, retryAfterMs } = error;
      if (!VENDOR_MAY_RECOVER[fault] || attempt >= maxAttempts) {
        return buildFailure(fault, error.message);
      }
      const { retry } = stage.definition;
      const leftMs = deadlineMs === undefined ? undefined : deadlineMs - stage.machine.nowMs;
      const next = planNextAttempt(retryAfterMs, computeBackoff(retry, attempt, NO_JITTER), retry, leftMs);
      if (next.type === "wait" && deadlineMs !== undefined) {
        const message = truncateForPreview(error.message, MAX_MESSAGE_BYTES);
        const wait = { forMs: next.forMs, attempts: attempt };
        return { setback: { type: "failed", failure: { fault, message }, wait } };
      }
      if (isStoppedBeforeNext(stage, attempt)) return { setback: { type: "cancelled" } };
      stage.machine.pass(next.type === "wait" ? next.forMs : next.delayMs);
    }
  }
}

function buildFailure(fault: string, said: string): { readonly setback: StepFailure } {
  const message = truncateForPreview(said, MAX_MESSAGE_BYTES);
  return { setback: { type: "failed", failure: { fault, message } } };
}

function isStoppedBeforeNext({ people, machine, notes }: Stage, attempt: number): boolean {
  const { sent } = people.due("backoff");
  if (sent.length > 0) notes.schedule.push({ type: "backs-off", attempt });
  people.arrive(sent);
  return machine.isStopped;
}
