import { Deadline, runWithDeadline } from "../../platform/async/deadline.ts";
import { ApplicationError } from "../step/failure.ts";

/**
 * The limit for all input filters of one step together, over all of its messages. A step that opens a loop ends after
 * five minutes.
 */
export const FILTERS_MS = 240_000;

/**
 * Runs filters with one limit for all of them together. On a timeout nothing is decided: the messages keep waiting,
 * because the same filters would take as long again.
 */
export async function runWithFilterTimeout<Answer>(
  { names, limitMs = FILTERS_MS }: { readonly names: readonly string[]; readonly limitMs?: number },
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const createError = () =>
    new ApplicationError(
      "filters",
      `The input filters (${names.join(", ")}) did not finish within ${Math.round(limitMs / 1000)} s for all waiting messages together. ` +
        "The messages are still stored. Make the filters faster, or use fewer of them",
    );
  return await runWithDeadline(signal, new Deadline(limitMs), ask, createError);
}
