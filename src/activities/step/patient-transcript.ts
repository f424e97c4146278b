import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "../../platform/log.ts";
import { patientOf } from "../../store/transcript/patient.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { patiently } from "./patience.ts";
import { currentContext } from "./store-waits.ts";

/** Without an activity there is nothing that could be cancelled. */
const NEVER = new AbortController().signal;

const patienceOf = new AsyncLocalStorage<AbortSignal>();

/** Has the transcript asked until this signal, whatever becomes of the activity that asks. */
export function until<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> {
  return patienceOf.run(signal, ask);
}

/** The transcript as activities use it: every operation waits for a store that is away, until the activity is cancelled. */
export function patientTranscript(transcript: Transcript, log: Logger): Transcript {
  return patientOf(transcript, (attempt) => {
    const signal = patienceOf.getStore() ?? currentContext()?.cancellationSignal ?? NEVER;
    return patiently(attempt, signal, log);
  });
}
