import { setMaxListeners } from "node:events";
import { WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from "@temporalio/common";
import type { RunResult } from "../../workflows/run-result.ts";
import { isRunNotFound, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getErrorMessage, HoldfastError } from "../holdfast-error.ts";
import { readPastResult } from "./read-past-result.ts";
import { isOutage, isStoreUnavailable, retryWhile } from "./retry-outage.ts";

/** The failure type of a failed run; its first detail is the `RunResult`. */
export const RUN_FAILED = "holdfast/run-failed";

/**
 * Waits for the run's end, through continue-as-new. Keeps waiting while the server is unavailable, until the signal is
 * aborted. Returns the result of a run that failed on its own as data. Throws for a run that was ended from outside.
 *
 * @param runId - The session's newest run by default.
 */
export async function awaitResult(
  link: ClientLink,
  session: string,
  options: { readonly runId?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<RunResult> {
  const requestResult = () =>
    link.client.workflow.getHandle(session, options.runId).result() as Promise<RunResult>;
  try {
    if (options.signal === undefined) return await retryWhile(requestResult, isOutage, undefined);
    // A wait consists of successive long polls, and each of them adds a listener.
    const signal = AbortSignal.any([options.signal]);
    setMaxListeners(0, signal);
    const request = () => link.connection.withAbortSignal(signal, requestResult);
    return await retryWhile(request, isOutage, signal);
  } catch (error) {
    if (error instanceof WorkflowFailedError) return toFailedResult(error, session);
    if (options.signal?.aborted === true) throw createWaitCancelledError(session, error);
    // The server deletes a run after its retention period; the transcript does not.
    const past = isRunNotFound(error)
      ? await retryWhile(() => readPastResult(link, session), isStoreUnavailable, options.signal)
      : undefined;
    if (past === undefined) throw toHoldfastError(error, link, session);
    return past;
  }
}

/** Not a rejection by the server: the caller cancelled the wait. */
function createWaitCancelledError(session: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    "wait-cancelled",
    `The caller cancelled the wait for the result of session ${session}. The run continues: wait again, or stop it.`,
    { session, cause },
  );
}

function toFailedResult(error: WorkflowFailedError, session: string): RunResult {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === RUN_FAILED) {
    const [result] = (cause.details ?? []) as readonly (RunResult | undefined)[];
    if (result !== undefined) return result;
  }
  const message = getErrorMessage(error);
  if (cause instanceof TerminatedFailure || cause instanceof CancelledFailure) {
    throw new HoldfastError(
      "run-terminated",
      `The run of session ${session} was ended from outside: ${message}. Its completed work is in the transcript; ` +
        "prompt the session to continue.",
      { session, cause: error },
    );
  }
  if (cause instanceof TimeoutFailure) {
    throw new HoldfastError("run-timed-out", `The run of session ${session} timed out: ${message}`, {
      session,
      cause: error,
    });
  }
  throw new HoldfastError("run-failed", `The run of session ${session} failed: ${message}`, {
    session,
    cause: error,
  });
}
