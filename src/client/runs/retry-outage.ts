import { setTimeout as sleep } from "node:timers/promises";
import { wrapWithRetry } from "../../store/transcript/retrying-transcript.ts";
import { STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { GRPC, getGrpcCode } from "../connection/grpc-status.ts";
import type { Storage } from "../sessions/storage.ts";

// Long waits outlast a temporary outage of a server or a store: they last until they have their answer, or until
// the caller aborts them.

const PAUSE_MS = { first: 250, longest: 5_000 };

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
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest)) {
    const result = performance.now();
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted === true) throw error;
      // A call that was open for long was being answered before it failed.
      if (performance.now() - result > PAUSE_MS.longest) pauseMs = PAUSE_MS.first;
    }
    // The random pause prevents all clients from retrying at once.
    await sleep(pauseMs * (0.5 + Math.random()), undefined, { ...(signal && { signal }) }).catch(
      () => undefined,
    );
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
