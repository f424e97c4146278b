import { isRunNotFound, toHoldfastError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { awaitResult } from "./await-result.ts";
import { isOutage, retryWhile } from "./retry-outage.ts";

/** Returns when the open run began; a loop that ended earlier does not belong to it. */
export async function findOpenSince(
  link: ClientLink,
  session: string,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const describe = () => link.client.workflow.getHandle(session).describe();
  try {
    const { status, startTime } = await retryWhile(describe, isOutage, signal);
    return status.name === "RUNNING" ? startTime : undefined;
  } catch (error) {
    if (isRunNotFound(error)) return undefined;
    throw toHoldfastError(error, link, session);
  }
}

/**
 * Waits until the run has ended, with any outcome: `awaitResult` reports which. Outlasts an unavailable server.
 *
 * @returns The error if the end can no longer be determined.
 */
export async function waitForRunEnd(
  link: ClientLink,
  session: string,
  { runId, signal }: { readonly runId: string | undefined; readonly signal: AbortSignal },
): Promise<HoldfastError | undefined> {
  try {
    await awaitResult(link, session, { runId, signal });
    return undefined;
  } catch (error) {
    return isConnectionLost(error) && !signal.aborted ? error : undefined;
  }
}

function isConnectionLost(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.code === "unreachable" || error.code === "server-refused");
}
