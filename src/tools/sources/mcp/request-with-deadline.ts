import { type Deadline, runWithDeadline } from "../../../platform/async/deadline.ts";
import type { RequestOptions } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";

/** Sends requests until the signal aborts or the deadline passes. @param formatTimeout - Describes the timeout. */
export async function requestWithDeadline<Result>(
  signal: AbortSignal,
  deadline: Deadline,
  work: (request: RequestOptions) => Promise<Result>,
  formatTimeout: () => string,
): Promise<Result> {
  try {
    return await runWithDeadline(
      signal,
      deadline,
      (within) => work({ signal: within }),
      (cause) => new McpError("timed-out", formatTimeout(), { cause }),
    );
  } catch (error) {
    if (signal.aborted) throw new McpError("cancelled", "was cancelled", { cause: error });
    throw error;
  }
}
