import { setTimeout as sleep } from "node:timers/promises";
import type { ActivityCancellationDetails } from "@temporalio/common";

/**
 * How long a call that Temporal has dispatched again may still end. It is shorter than the time for which the next
 * execution waits for its result (`YIELD_TIMEOUT_MS`).
 */
const GRACE_MS = 8000;

export type CallSignal = {
  readonly signal: AbortSignal;
  /** Must be called when the call has ended. */
  readonly end: () => void;
};

/**
 * Creates the signal of an `unsafe` call. It aborts with its activity. If only the heartbeats were late, Temporal has
 * dispatched the call again, and the next execution waits for the result of this one: the signal then aborts later, so
 * that the outcome is known.
 *
 * @param isRunOpen - Asks the server whether the run of the call goes on.
 */
export function createCallSignal(
  activity: {
    readonly cancellationSignal: AbortSignal;
    readonly cancellationDetails: Pick<ActivityCancellationDetails, "notFound"> | undefined;
  },
  isRunOpen: () => Promise<boolean>,
  graceMs = GRACE_MS,
): CallSignal {
  const call = new AbortController();
  const ended = new AbortController();
  const onAbort = async (): Promise<void> => {
    const isLate = activity.cancellationDetails?.notFound === true && (await isRunOpen().catch(() => false));
    if (isLate) await sleep(graceMs, undefined, { signal: ended.signal }).catch(() => undefined);
    call.abort(activity.cancellationSignal.reason);
  };
  if (activity.cancellationSignal.aborted) void onAbort();
  else activity.cancellationSignal.addEventListener("abort", () => void onAbort(), { once: true });
  return { signal: call.signal, end: () => ended.abort() };
}
