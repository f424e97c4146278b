import { setTimeout as sleep } from "node:timers/promises";
import { Context } from "@temporalio/activity";
import { NotBegunError } from "./failure.ts";
import { StallWatch } from "./stall-watch.ts";
import { getStoreWait } from "./store-waits.ts";

/**
 * The SDK forwards a heartbeat at most this often when the worker sets `maxHeartbeatThrottleInterval` to the same
 * value.
 */
const HEARTBEAT_INTERVAL_MS = 1000;

let watch: StallWatch | undefined;
const beganByContext = new WeakMap<Context, number>();

/**
 * Forgets earlier stalls of this process. For tests: a file that computes for longer than the heartbeat timeout may run
 * right before a file that creates a worker.
 *
 * @testonly
 */
export function forgetStalls(): void {
  watch?.forget();
}

/**
 * Throws if this process was stalled for so long that Temporal has dispatched the step of this activity again. Call it
 * right before work that must not happen twice.
 */
export function assertNotStalled(): void {
  const context = Context.current();
  const beganMs = beganByContext.get(context);
  if (beganMs === undefined || watch?.mayHaveLost(beganMs) !== true) return;
  throw new NotBegunError(
    `The worker was stalled before ${context.info.activityType} began; it is dispatched again`,
  );
}

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
  watch ??= new StallWatch().start();
  beganByContext.set(context, watch.tick());
  const timer = setInterval(
    () => context.heartbeat({ ...details(), ...getStoreWait(context) }),
    HEARTBEAT_INTERVAL_MS,
  );
  try {
    return await work();
  } catch (error) {
    if (error instanceof NotBegunError) await waitForSafeDispatch(context);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Waits before a step is released: if it were dispatched again at once, it would be released again, many times. */
async function waitForSafeDispatch({ cancellationSignal: signal }: Context): Promise<void> {
  await sleep(watch?.computeSafeDelayMs(), undefined, { signal }).catch(() => undefined);
}
