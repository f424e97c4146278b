import type { ActivityOptions, LocalActivityOptions } from "@temporalio/workflow";
import { omitUndefined } from "../platform/text/omit-undefined.ts";

// The timeouts and retry policies of every activity, in one table.

/**
 * A worker counts as dead after this silence. The SDK sends heartbeats at most every 0.8 of the timeout, and every
 * second where the worker sets `maxHeartbeatThrottleInterval: 1s`. A busy machine may therefore lose four heartbeats.
 */
const HEARTBEAT_TIMEOUT = "5 seconds";

/** The longest time that one answer may take. Reasoning models think for many minutes. */
const MODEL_TIMEOUT = "60 minutes";

/**
 * The limit for a tool without a timeout of its own, including the waits around it. Nothing else would end a tool that
 * hangs.
 */
const TOOL_TIMEOUT_MS = 60 * 60 * 1000;

/**
 * What is added to a tool's own timeout. The activity enforces the tool's timeout itself, and heartbeats report a dead
 * worker. The rest of this time is for an unavailable store, before the call and after it.
 */
const TOOL_MARGIN_MS = 24 * 60 * 60 * 1000;

/** A local step that is not done by then runs on another path: until it ends, it delays signals (design 3.17). */
const LOCAL_TIMEOUT = "2 seconds";

/** The workflow task timeout of agents: a kill during a local step waits for it (design 3.18). */
export const WORKFLOW_TASK_TIMEOUT = "5 seconds" as const;

/** A dead worker is no failure of the vendor: the machine dispatches the command again (design 3.12). */
const DEAD_WORKER_FAILURES = ["TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose"];

/**
 * Returns the options of steps that may call a vendor or an application. Temporal retries them after the delay that
 * the activity specifies.
 */
export function buildModelOptions(maxAttempts: number, summary: string): ActivityOptions {
  return {
    startToCloseTimeout: MODEL_TIMEOUT,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: maxAttempts, nonRetryableErrorTypes: DEAD_WORKER_FAILURES },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}

/**
 * Returns the options of a tool call. Temporal never retries a tool: the tool's replay class decides whether a second
 * execution is safe.
 */
export function buildToolOptions(
  timeoutMs: number | undefined,
  queue: string | undefined,
  summary: string,
): ActivityOptions {
  return {
    startToCloseTimeout: timeoutMs === undefined ? TOOL_TIMEOUT_MS : timeoutMs + TOOL_MARGIN_MS,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: 1 },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
    ...omitUndefined({ taskQueue: queue }),
  };
}

/** Returns the options of steps that only write. Temporal retries them until the store answers. */
export function buildWriteOptions(summary: string): ActivityOptions {
  return {
    startToCloseTimeout: "5 minutes",
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: "200 milliseconds", maximumInterval: "10 seconds" },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}

/** People who wait at the same workers come before a suite: 5 is the lowest of the server's priorities. */
export const SUITE_PRIORITY = { priorityKey: 5 } as const;

/** Cells that are asked together take as long as their slowest answer after the activity has begun its last one. */
const CELLS_TIMEOUT = "2 hours";

/** Returns the options of activities that ask or score many cells. A repetition does what is left. */
export function buildCellsOptions(summary: string): ActivityOptions {
  return { ...buildWriteOptions(summary), startToCloseTimeout: CELLS_TIMEOUT, priority: SUITE_PRIORITY };
}

/**
 * Returns the options of local activities that only store a text. Their retries wait in timers, so that a workflow task
 * of the application does not stay open while the store is unavailable.
 */
export function buildStoreOptions(summary: string): LocalActivityOptions {
  return {
    startToCloseTimeout: "10 seconds",
    localRetryThreshold: "1 second",
    retry: { initialInterval: "200 milliseconds", maximumInterval: "10 seconds" },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}

export function buildLocalOptions(summary: string): LocalActivityOptions {
  return {
    scheduleToCloseTimeout: LOCAL_TIMEOUT,
    startToCloseTimeout: LOCAL_TIMEOUT,
    retry: { maximumAttempts: 1 },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}
