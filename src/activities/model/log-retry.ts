import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { VendorDelay } from "../../core/machine/state/run-event.ts";
import type { Logger } from "../../platform/log.ts";

type ActivityInfo = Pick<Context["info"], "attempt" | "retryPolicy" | "workflowExecution">;

/**
 * Logs that a vendor is going to be called again (RTY-06). Logs nothing when it is not: for a permanent fault, or
 * after the last attempt.
 *
 * @param maxRetries - The definition's number. Attempts of a lost worker count, because Temporal's own number may
 * start again after them.
 * @returns The delay in milliseconds.
 */
export function logRetry(
  failure: Error,
  maxRetries: number,
  log: Logger,
  info: ActivityInfo = Context.current().info,
): number | undefined {
  if (!(failure instanceof ApplicationFailure)) return undefined;
  const { type } = failure;
  const delayMs = getDelay(failure);
  if (typeof delayMs !== "number") return undefined;
  const left = (info.retryPolicy?.maximumAttempts ?? maxRetries + 1) - info.attempt;
  if (left <= 0) return undefined;
  const attempt = Math.max(1, maxRetries - left + 1);
  log.warn(
    {
      session: info.workflowExecution?.workflowId,
      attempt,
      max: maxRetries,
      delayMs,
      fault: type,
      error: failure.message,
    },
    `Provider error (attempt ${attempt}/${maxRetries}), retrying in ${(delayMs / 1000).toFixed(1)}s: ${failure.message}`,
  );
  return delayMs;
}

/** Returns the delay of Temporal's retry, or of the run's own wait. */
function getDelay({ nonRetryable, nextRetryDelay, details }: ApplicationFailure): unknown {
  if (nonRetryable !== true) return nextRetryDelay;
  return (details?.[0] as { readonly wait?: VendorDelay } | undefined)?.wait?.forMs;
}
