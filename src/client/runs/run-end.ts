import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { isGone, translated } from "../failures.ts";
import { isOutage, outlast } from "./outlast.ts";
import { awaitResult } from "./result.ts";

/** When the open run began; a loop that ended before is not part of it. */
export async function openSince(link: Link, session: string, signal: AbortSignal): Promise<Date | undefined> {
  const describe = () => link.client.workflow.getHandle(session).describe();
  try {
    const { status, startTime } = await outlast(describe, isOutage, signal);
    return status.name === "RUNNING" ? startTime : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw translated(error, link, session);
  }
}

/**
 * Waits until the run has ended, however it did: that is for `awaitResult` to say. A server that is away is waited for.
 *
 * @returns The reason why it cannot be known, if that is so.
 */
export async function runEnd(
  link: Link,
  session: string,
  { runId, signal }: { readonly runId: string | undefined; readonly signal: AbortSignal },
): Promise<HoldfastError | undefined> {
  try {
    await awaitResult(link, session, { runId, signal });
    return undefined;
  } catch (error) {
    return isLost(error) && !signal.aborted ? error : undefined;
  }
}

function isLost(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.code === "unreachable" || error.code === "server-refused");
}
