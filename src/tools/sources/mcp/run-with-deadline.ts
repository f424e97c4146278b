import type { Deadline } from "./deadline.ts";
import type { RequestOptions } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";

/** Does something as long as the signal and the patience last. @param late - Says what did not happen in time. */
export async function runWithDeadline<Result>(
  signal: AbortSignal,
  deadline: Deadline,
  work: (request: RequestOptions, deadline: Deadline) => Promise<Result>,
  formatTimeout: () => string,
): Promise<Result> {
  try {
    return await work({ signal: AbortSignal.any([signal, deadline.signal]) }, deadline);
  } catch (error) {
    if (signal.aborted) throw new McpError("cancelled", "was cancelled", { cause: error });
    if (!deadline.hasPassed) throw error;
    throw new McpError("timed-out", formatTimeout(), { cause: error });
  } finally {
    deadline.dispose();
  }
}

/** For work that others wait for too: who leaves does not end it. */
export async function raceAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
