import type { Deadline } from "./deadline.ts";
import type { RequestOptions } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";

/** Runs work until the signal aborts or the deadline expires. @param late - Describes the timeout. */
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

/** Waits for shared work. A caller that leaves does not end the work for the others. */
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
