import { Context } from "@temporalio/activity";
import { getStoreWait } from "./store-waits.ts";

/**
 * The SDK forwards a heartbeat at most this often when the worker sets `maxHeartbeatThrottleInterval` to the same
 * value.
 */
const HEARTBEAT_INTERVAL_MS = 1000;

/**
 * Sends heartbeats from a timer during the work, so that a silent vendor or tool does not look like a dead worker, and
 * so that a cancellation arrives. Work that ends within a second costs the server nothing.
 *
 * @param details - Sent with each heartbeat; a worker that takes over knows the last one. A wait for the store is
 * added.
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
