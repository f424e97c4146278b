import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "../../platform/log.ts";
import { wrapWithRetry } from "../../store/transcript/retrying-transcript.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { retryWrite } from "./retry-write.ts";
import { getCurrentContext } from "./store-waits.ts";

/** Without an activity there is nothing that could be cancelled. */
const NEVER_ABORTED = new AbortController().signal;

const deadlineStorage = new AsyncLocalStorage<AbortSignal>();

/** Has the transcript asked until this signal, whatever becomes of the activity that asks. */
export function retryUntil<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> {
  return deadlineStorage.run(signal, ask);
}

/** The transcript as activities use it: every operation waits for a store that is away, until the activity is cancelled. */
export function createActivityTranscript(transcript: Transcript, log: Logger): Transcript {
  return wrapWithRetry(transcript, (attempt) => {
    const signal = deadlineStorage.getStore() ?? getCurrentContext()?.cancellationSignal ?? NEVER_ABORTED;
    return retryWrite(attempt, signal, log);
  });
}
