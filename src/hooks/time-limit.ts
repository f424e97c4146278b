import { Deadline } from "../platform/async/deadline.ts";
import { raceAbort } from "../platform/async/race.ts";
import { buildFailure, getErrorMessage, type HookFailure } from "./verdict.ts";

/** The default limit of one hook or filter. */
export const DEFAULT_HOOK_TIMEOUT_MS = 10_000;

/** The longest time of a Node timer; a longer timer fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What a function's signal gives as its reason: one for all, because each new one takes a stack trace. */
const ENDED = new DOMException("Nothing waits for this function any more", "AbortError");

export type AnswerInTime<T> = { readonly type: "answered"; readonly value: T };

/**
 * Calls a function of the application and waits no longer than the limit.
 *
 * Its signal aborts when nothing waits any more. A function that continues anyway is ignored. A function that computes
 * without a pause cannot be interrupted and blocks the whole worker.
 */
export async function askWithTimeout<T>(
  ask: (signal: AbortSignal) => T | Promise<T>,
  limit: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<AnswerInTime<T> | HookFailure> {
  if (limit.signal.aborted) return buildFailure("cancelled", "Cancelled");
  const ended = new AbortController();
  const deadline = new Deadline(limit.timeoutMs);
  try {
    const answer = (async () => ask(ended.signal))();
    const value = await raceAbort(answer, limit.signal, deadline.signal);
    return { type: "answered", value };
  } catch (error) {
    if (limit.signal.aborted) return buildFailure("cancelled", "Cancelled");
    if (deadline.hasPassed) return buildTimeoutFailure(limit.timeoutMs);
    return buildFailure("threw", getErrorMessage(error));
  } finally {
    deadline.dispose();
    ended.abort(ENDED);
  }
}

export function buildTimeoutFailure(timeoutMs: number): HookFailure {
  return buildFailure("timed-out", `No answer within ${timeoutMs / 1000} s`);
}

export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) return;
  throw new RangeError(`timeoutMs is ${timeoutMs}: use more than 0 and at most ${MAX_TIMEOUT_MS}`);
}
