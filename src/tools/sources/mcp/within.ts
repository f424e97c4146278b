import type { RequestOptions } from "./connection.ts";
import { McpError } from "./error.ts";
import type { Patience } from "./patience.ts";

/** Does something as long as the signal and the patience last. @param late - Says what did not happen in time. */
export async function within<Result>(
  signal: AbortSignal,
  patience: Patience,
  work: (request: RequestOptions, patience: Patience) => Promise<Result>,
  late: () => string,
): Promise<Result> {
  try {
    return await work({ signal: AbortSignal.any([signal, patience.signal]) }, patience);
  } catch (error) {
    if (signal.aborted) throw new McpError("cancelled", "was cancelled", { cause: error });
    if (!patience.isOver) throw error;
    throw new McpError("timed-out", late(), { cause: error });
  } finally {
    patience.end();
  }
}

/** For work that others wait for too: who leaves does not end it. */
export async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  let leave = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
