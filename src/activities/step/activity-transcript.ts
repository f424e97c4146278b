import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "../../platform/log.ts";
import { wrapWithRetry } from "../../store/transcript/retrying-transcript.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { retryWrite } from "./retry-write.ts";
import { getCurrentContext } from "./store-waits.ts";

/** Outside of an activity nothing can be cancelled. */
const NEVER_ABORTED = new AbortController().signal;

const deadlineStorage = new AsyncLocalStorage<AbortSignal>();

/** Retries transcript operations until this signal aborts, whatever happens to the calling activity. */
export function retryUntil<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> {
  return deadlineStorage.run(signal, ask);
}

/**
 * Wraps the transcript for activities: every operation waits for an unavailable store, until the activity is
 * cancelled.
 */
export function createActivityTranscript(transcript: Transcript, log: Logger): Transcript {
  return wrapWithRetry(transcript, (attempt) => {
    const signal = deadlineStorage.getStore() ?? getCurrentContext()?.cancellationSignal ?? NEVER_ABORTED;
    return retryWrite(attempt, signal, log);
  });
}
