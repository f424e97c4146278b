import { ApplicationError } from "../step/failure.ts";

/** All input filters of one step together, about all of its messages. A step that opens a loop ends after five minutes. */
export const FILTERS_MS = 240_000;

/**
 * Asks filters, and gives up when all of them together have taken too long. Nothing is decided then: what waits goes on
 * waiting, and the same filters would take as long again.
 */
export async function runWithFilterTimeout<Answer>(
  { names, limitMs = FILTERS_MS }: { readonly names: readonly string[]; readonly limitMs?: number },
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limitMs);
  try {
    return await ask(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (signal.aborted || !late.signal.aborted) throw error;
    throw new ApplicationError(
      "filters",
      `The input filters (${names.join(", ")}) were not done within ${Math.round(limitMs / 1000)} s, all of them together ` +
        "about all that waits; what waits has been kept. Make them faster, or name fewer",
    );
  } finally {
    clearTimeout(timer);
  }
}
