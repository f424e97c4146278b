import { Context } from "@temporalio/activity";
import { getStoreWait } from "./store-waits.ts";

/** The SDK passes a beat on at most this often when the worker sets `maxHeartbeatThrottleInterval` to the same. */
const HEARTBEAT_INTERVAL_MS = 1000;

/**
 * Beats from a timer while the work lasts, so that a silent vendor or tool is not taken for a dead worker, and so
 * that a cancellation arrives. Work that ends within a second costs the server nothing.
 *
 * @param details - Told with each beat; the last one is known to whoever takes over. A wait for the store is added.
 */
export async function withHeartbeat<Result>(
  details: () => object | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  if (context.info.isLocal) return await work();
  const timer = setInterval(
    () => context.heartbeat({ ...details(), ...getStoreWait(context) }),
    HEARTBEAT_INTERVAL_MS,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
