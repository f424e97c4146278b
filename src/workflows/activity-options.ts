import type { ActivityOptions, LocalActivityOptions } from "@temporalio/workflow";

// Time-outs and retry policies of every activity, in one table.

/**
 * A silent worker is dead after this. The SDK beats at most every 0.8 of it, and every second where the worker says
 * `maxHeartbeatThrottleInterval: 1s`; four beats may be lost to a busy machine.
 */
const HEARTBEAT_TIMEOUT = "5 seconds";

/** The longest that one answer may take. Reasoning models think for many minutes. */
const MODEL_TIMEOUT = "60 minutes";

/** A tool without a time-out of its own, and what is waited for around it: nobody else would end one that hangs. */
const TOOL_TIMEOUT_MS = 60 * 60 * 1000;

/**
 * What a tool's own time-out is given on top. The activity keeps that time-out itself, and heartbeats tell of a dead
 * worker; the rest of its time is for a store that is away, before the call and after it.
 */
const TOOL_MARGIN_MS = 24 * 60 * 60 * 1000;

/** A local step that is not done by then goes elsewhere: until it ends it holds back signals (design 3.17). */
const LOCAL_TIMEOUT = "2 seconds";

/** A worker that died is no failure of the vendor: the machine gives the command out again (design 3.12). */
const DEAD_WORKER = ["TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose"];

/** For steps that may ask a vendor, or an application: again by Temporal, after the delay that the activity names. */
export function modelOptions(maxAttempts: number, summary: string): ActivityOptions {
  return {
    startToCloseTimeout: MODEL_TIMEOUT,
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { maximumAttempts: maxAttempts, nonRetryableErrorTypes: DEAD_WORKER },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}

/** A tool is never run again by Temporal: what a second execution means is for its replay class to say. */
export function toolOptions(
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
    ...(queue === undefined ? {} : { taskQueue: queue }),
  };
}

/** Steps that only write: tried until the store answers. */
export function writeOptions(summary: string): ActivityOptions {
  return {
    startToCloseTimeout: "5 minutes",
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: "200 milliseconds", maximumInterval: "10 seconds" },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}

export function localOptions(summary: string): LocalActivityOptions {
  return {
    scheduleToCloseTimeout: LOCAL_TIMEOUT,
    startToCloseTimeout: LOCAL_TIMEOUT,
    retry: { maximumAttempts: 1 },
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    summary,
  };
}
