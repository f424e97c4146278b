import { setTimeout as sleep } from "node:timers/promises";
import { wrapWithRetry } from "../../store/transcript/retrying-transcript.ts";
import { STORE_MAY_RECOVER, StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { GRPC, getGrpcCode } from "../connection/grpc-status.ts";
import type { Storage } from "../sessions/storage.ts";

// Calls that wait for something long outlast a server or a store that is away meanwhile: until they have their answer, or
// their caller has had enough.

const PAUSE_MS = { first: 250, longest: 5_000 };

/**
 * What a Temporal server answers that is being restarted, has lost its own database, or has too much to do. It says of
 * each of them that the same question may be answered later.
 */
const TRANSIENT_CODES: ReadonlySet<number | undefined> = new Set<number>([
  GRPC.unknown,
  GRPC.deadlineExceeded,
  GRPC.resourceExhausted,
  GRPC.aborted,
  GRPC.internal,
  GRPC.unavailable,
]);

/** The wish to be answered passes to the server as a cancellation too: that is the caller's, and no outage. */
export function isOutage(error: unknown): boolean {
  return TRANSIENT_CODES.has(getGrpcCode(error));
}

/** The transcript's fault, or that of live output in a database, which has the same words for it. */
export function isStoreUnavailable(error: unknown): boolean {
  const isOfStore = error instanceof StoreError || (error instanceof Error && error.name === "PostgresError");
  return isOfStore && STORE_MAY_RECOVER[(error as StoreError).fault];
}

/**
 * Asks until there is an answer.
 *
 * @param passes - The failures after which the same is asked again; the others are thrown.
 * @param signal - The last failure is thrown once it is aborted.
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
      // A question that was open for long was being answered before it failed.
      if (performance.now() - result > PAUSE_MS.longest) pauseMs = PAUSE_MS.first;
    }
    // Uneven, so that all who wait do not come back at once.
    await sleep(pauseMs * (0.5 + Math.random()), undefined, { ...(signal && { signal }) }).catch(
      () => undefined,
    );
  }
}

/** The transcript, if there is one, whose reads outlast a store that is away. */
export async function getRetryingTranscript(
  storage: Storage,
  signal: AbortSignal | undefined,
): Promise<Transcript | undefined> {
  const transcript = await retryWhile(() => storage.openExistingTranscript(), isStoreUnavailable, signal);
  if (transcript === undefined) return undefined;
  return wrapWithRetry(transcript, (attempt) => retryWhile(attempt, isStoreUnavailable, signal));
}
