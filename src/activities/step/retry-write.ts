import { setTimeout as sleep } from "node:timers/promises";
import { CancelledFailure } from "@temporalio/activity";
import { computePauseMs } from "../../platform/async/back-off.ts";
import type { Logger } from "../../platform/log.ts";
import { STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";
import { noteStoreWait } from "./store-waits.ts";

/**
 * The delays between two attempts at the store: the first goes unnoticed, the last is how late a run is when the cause
 * is gone.
 */
const BACK_OFF = { firstMs: 50, longestMs: 2000 };

/** While many steps wait for the same store, one log line in this time is enough. */
const LOG_INTERVAL_MS = 10_000;

/** What was logged about a store. */
type StoreOutage = { steps: number; readonly sinceMs: number; loggedMs: number };
const outageByLog = new WeakMap<Logger, StoreOutage>();

/**
 * Retries an operation until the store answers: a full disk, a locked file or an unavailable database delays a run and
 * does not end it. The heartbeat of the activity reports the wait.
 *
 * @param signal - Ends the wait as a cancellation, because a temporary fault of the store is no failure of the step.
 */
export async function retryWrite<Result>(
  attempt: () => Promise<Result>,
  signal: AbortSignal,
  log: Logger,
): Promise<Result> {
  let waits: StoreOutage | undefined;
  let endNote = (): void => undefined;
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof StoreError) || !STORE_MAY_RECOVER[error.fault]) throw error;
        if (signal.aborted) throw toCancellation(signal, error);
        if (waits === undefined) {
          waits = beginOutage(log);
          endNote = noteStoreWait(error);
        }
        logOutage(waits, error, log);
        await sleep(computePauseMs(BACK_OFF, failures), undefined, { signal }).catch(() => undefined);
      }
    }
  } finally {
    endNote();
    if (waits !== undefined) endOutage(waits, log);
  }
}

function toCancellation({ reason }: AbortSignal, cause: StoreError): CancelledFailure {
  if (reason instanceof CancelledFailure) return reason;
  return new CancelledFailure("CANCELLED", [], cause);
}

function beginOutage(log: Logger): StoreOutage {
  const waiting = outageByLog.get(log) ?? { steps: 0, sinceMs: Date.now(), loggedMs: 0 };
  outageByLog.set(log, waiting);
  waiting.steps += 1;
  return waiting;
}

function logOutage(waiting: StoreOutage, { fault, message }: StoreError, log: Logger): void {
  const nowMs = Date.now();
  if (nowMs - waiting.loggedMs < LOG_INTERVAL_MS) return;
  waiting.loggedMs = nowMs;
  const { steps } = waiting;
  log.warn(
    { fault, waiting: steps },
    `${message} Steps that wait for it: ${steps}; they continue by themselves.`,
  );
}

function endOutage(waiting: StoreOutage, log: Logger): void {
  waiting.steps -= 1;
  if (waiting.steps > 0) return;
  outageByLog.delete(log);
  const waitedMs = Date.now() - waiting.sinceMs;
  log.warn(
    { waitedMs },
    `No step waits for the transcript any more, after ${(waitedMs / 1000).toFixed(1)} s`,
  );
}
