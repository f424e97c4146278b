import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "./error.ts";
import { isGone, translated } from "./failures.ts";
import type { Link } from "./link.ts";
import { awaitResult } from "./result.ts";

/** How long the server may be away, in a row, before who waits for a run's end is told so. */
const SERVER_AWAY_MS = 120_000;
const ASK_AGAIN_MS = 500;
/** A question that was open so long was being answered before it failed. */
const WAS_THERE_MS = 10_000;

/** When the open run began; a loop that ended before is not part of it. */
export async function openSince(link: Link, session: string): Promise<Date | undefined> {
  try {
    const { status, startTime } = await link.client.workflow.getHandle(session).describe();
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
  let away: number | undefined;
  while (!signal.aborted) {
    const asked = performance.now();
    try {
      await awaitResult(link, session, { runId, signal });
      return undefined;
    } catch (error) {
      if (!isLost(error)) return undefined;
      const now = performance.now();
      if (away === undefined || now - asked > WAS_THERE_MS) away = now;
      if (now - away > SERVER_AWAY_MS) return error;
    }
    await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function isLost(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.code === "unreachable" || error.code === "server-refused");
}
