import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
  TimeoutType,
} from "@temporalio/common";
import type { StepFailure, VendorDelay } from "../core/machine/state/run-event.ts";
import { truncateForPreview } from "../platform/text/preview.ts";

/**
 * The most bytes of a message. An activity's failure type is its area and its fault, as in `provider/rate-limited`;
 * the machine reads the fault.
 */
const MAX_MESSAGE_BYTES = 1024;

/** The types of failures that mean that no worker runs the step any more, although it did not fail. */
const RELEASED = "released";
const LOST_TYPES = new Set(["WorkerLost", "fenced"]);

/** Converts the failure of an activity for the machine. Any other error is a bug and is thrown. */
export function toStepFailure(error: unknown, local: boolean): StepFailure {
  if (error instanceof CancelledFailure) return { type: "cancelled" };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) return { type: "cancelled" };
  if (cause instanceof ApplicationFailure) return fromApplicationFailure(cause, local);
  if (cause instanceof TimeoutFailure) return fromTimeout(cause, local);
  return local ? { type: "not-local" } : buildFailure("unknown", cause?.message ?? error.message);
}

function fromApplicationFailure(cause: ApplicationFailure, local: boolean): StepFailure {
  const type = cause.type ?? "unknown";
  if (type === RELEASED) return { type: "lost", attempts: 0, isReleased: true };
  if (LOST_TYPES.has(type)) return { type: "lost", attempts: parseAttempts(cause.details?.[0]) };
  if (type === "not-local") return { type: "not-local" };
  if (local && cause.nonRetryable !== true) return { type: "not-local" };
  const wait = parseVendorDelay(cause.details?.[0]);
  const stepFailure = buildFailure(type.slice(type.indexOf("/") + 1), cause.message);
  return stepFailure.type === "failed" && wait !== undefined ? { ...stepFailure, wait } : stepFailure;
}

function fromTimeout(cause: TimeoutFailure, local: boolean): StepFailure {
  if (local) return { type: "not-local" };
  if (cause.timeoutType === TimeoutType.SCHEDULE_TO_START) {
    return buildFailure("host-gone", "The host that has the workspace did not take the call in time");
  }
  const late = cause.timeoutType === TimeoutType.HEARTBEAT ? { isTimeout: true as const } : {};
  return { type: "lost", attempts: parseAttempts(cause.lastHeartbeatDetails), ...late };
}

function buildFailure(fault: string, message: string): StepFailure {
  return { type: "failed", failure: { fault, message: truncateForPreview(message, MAX_MESSAGE_BYTES) } };
}

/** Returns how long a vendor asks to wait, if that is longer than Temporal's retry waits. */
function parseVendorDelay(details: unknown): VendorDelay | undefined {
  const { wait } = (details ?? {}) as { readonly wait?: Partial<VendorDelay> };
  const { forMs, attempts } = wait ?? {};
  return typeof forMs === "number" && typeof attempts === "number" ? { forMs, attempts } : undefined;
}

/** Reads the number of vendor calls that heartbeats and `WorkerLost` report. */
function parseAttempts(details: unknown): number {
  const attempts = (details as { attempts?: unknown } | undefined)?.attempts;
  return typeof attempts === "number" ? attempts : 0;
}
