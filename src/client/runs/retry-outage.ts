import { setTimeout as sleep } from "node:timers/promises";
import { computePauseMs, randomisePauseMs } from "../../platform/async/back-off.ts";
import { wrapWithRetry } from "../../store/transcript/retrying-transcript.ts";
import { STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { GRPC, getGrpcCode } from "../connection/grpc-status.ts";
import type { Storage } from "../sessions/storage.ts";

// Long waits outlast a temporary outage of a server or a store: they last until they have their answer, or until
// the caller aborts them.

const BACK_OFF = { firstMs: 250, longestMs: 5_000 };

/**
 * The status codes of a Temporal server that restarts, has lost its own database, or is overloaded. By their definition,
 * the same request may succeed later.
 */
const TRANSIENT_CODES: ReadonlySet<number | undefined> = new Set<number>([
  GRPC.unknown,
  GRPC.deadlineExceeded,
  GRPC.resourceExhausted,
  GRPC.aborted,
  GRPC.internal,
  GRPC.unavailable,
]);

/** Tells whether an error is a temporary outage. A caller's own cancellation, which the server also reports, is none. */
export function isOutage(error: unknown): boolean {
  return TRANSIENT_CODES.has(getGrpcCode(error));
}

/** Tells whether the transcript, or the database of live output, which has the same faults, is temporarily unavailable. */
export function isStoreUnavailable(error: unknown): boolean {
  const isOfStore = error instanceof StoreError || (error instanceof Error && error.name === "PostgresError");
  return isOfStore && STORE_MAY_RECOVER[(error as StoreError).fault];
}

/**
 * Retries a call until it succeeds.
 *
 * @param isTransient - Selects the failures to retry; others are thrown.
 * @param signal - After it is aborted, the last failure is thrown.
 */
export async function retryWhile<Answer>(
  call: () => Promise<Answer>,
  isTransient: (error: unknown) => boolean,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let failures = 1; ; failures += 1) {
    const beganMs = performance.now();
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted === true) throw error;
      // A call that was open for long was being answered before it failed.
      if (performance.now() - beganMs > BACK_OFF.longestMs) failures = 1;
    }
    const pauseMs = randomisePauseMs(computePauseMs(BACK_OFF, failures));
    await sleep(pauseMs, undefined, { ...(signal && { signal }) }).catch(() => undefined);
  }
}

/** Opens the transcript, if there is one, with reads that outlast a temporary outage. */
export async function getRetryingTranscript(
  storage: Storage,
  signal: AbortSignal | undefined,
): Promise<Transcript | undefined> {
  const transcript = await retryWhile(() => storage.openExistingTranscript(), isStoreUnavailable, signal);
  if (transcript === undefined) return undefined;
  return wrapWithRetry(transcript, (attempt) => retryWhile(attempt, isStoreUnavailable, signal));
}
