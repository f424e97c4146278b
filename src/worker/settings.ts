import type { WorkerOptions } from "@temporalio/worker";

/**
 * How long a workflow task waits for the worker that has its run in memory. This is half of the SDK's default: a dead
 * host costs this time and a heartbeat timeout (docs/decisions).
 */
const STICKY_TIMEOUT = "5 seconds";

/** Activities wait more than they compute. */
const ACTIVITY_SLOTS = 500;

/** How long a model stream or a tool may still take after the worker is asked to end. */
export const DRAIN_MS = 10_000;

/** Holdfast's settings of Temporal's worker. Benchmarks give the same settings to the worker that they compare with. */
export const WORKER_SETTINGS = {
  /** The longest delay of a heartbeat on its way to the server. */
  maxHeartbeatThrottleInterval: "1 second",
  /** How long a workflow task waits for the worker that has its run in memory. */
  stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
  /** The most activities at the same time. */
  maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
  /** The most local activities at the same time. */
  maxConcurrentLocalActivityExecutions: ACTIVITY_SLOTS,
  /** How long running activities may still take after a shutdown begins, in milliseconds. */
  shutdownGraceTime: DRAIN_MS,
} satisfies Partial<WorkerOptions>;
