import type { WorkerOptions } from "@temporalio/worker";

/**
 * How long a workflow task waits for the worker that has its run in memory. Half of the SDK's default: a host that
 * is gone costs this and a heartbeat time-out (docs/decisions).
 */
const STICKY_TIMEOUT = "5 seconds";

/** Activities wait more than they compute. */
const ACTIVITY_SLOTS = 500;

/** What a model stream or a tool may still take when the worker is asked to end. */
export const DRAIN_MS = 10_000;

/** What Holdfast asks of Temporal's worker; benchmarks give the same to the one that they compare with. */
export const WORKER_SETTINGS = {
  maxHeartbeatThrottleInterval: "1 second",
  stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
  shutdownGraceTime: DRAIN_MS,
} satisfies Partial<WorkerOptions>;
