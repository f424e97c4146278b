import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
  TimeoutType,
} from "@temporalio/common";
import { truncateForPreview } from "../core/preview.ts";
import type { Setback } from "../core/run-event.ts";
import type { VendorWait } from "../core/vendor-wait.ts";

/** A failure type of an activity is its room and its fault: `provider/rate-limited`. The machine reads the fault. */
const MAX_MESSAGE_BYTES = 1024;

/** Types that say that nobody works on the step any more, though it did not fail. */
const HANDED_BACK = "handed-back";
const LOST_TYPES = new Set(["WorkerLost", "fenced"]);

/** What an activity's failure means to the machine. Anything that is no failure of an activity is our own mistake. */
export function setbackOf(error: unknown, local: boolean): Setback {
  if (error instanceof CancelledFailure) return { type: "cancelled" };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof CancelledFailure) return { type: "cancelled" };
  if (cause instanceof ApplicationFailure) return ofApplication(cause, local);
  if (cause instanceof TimeoutFailure) return ofTimeout(cause, local);
  return local ? { type: "elsewhere" } : failed("unknown", cause?.message ?? error.message);
}

function ofApplication(cause: ApplicationFailure, local: boolean): Setback {
  const type = cause.type ?? "unknown";
  if (type === HANDED_BACK) return { type: "lost", attempts: 0, inOrder: true };
  if (LOST_TYPES.has(type)) return { type: "lost", attempts: attemptsIn(cause.details?.[0]) };
  if (type === "elsewhere") return { type: "elsewhere" };
  if (local && cause.nonRetryable !== true) return { type: "elsewhere" };
  const wait = waitIn(cause.details?.[0]);
  const setback = failed(type.slice(type.indexOf("/") + 1), cause.message);
  return setback.type === "failed" && wait !== undefined ? { ...setback, wait } : setback;
}

function ofTimeout(cause: TimeoutFailure, local: boolean): Setback {
  if (local) return { type: "elsewhere" };
  if (cause.timeoutType === TimeoutType.SCHEDULE_TO_START) {
    return failed("host-gone", "The host that holds the workspace did not take the call in time");
  }
  const late = cause.timeoutType === TimeoutType.HEARTBEAT ? { late: true as const } : {};
  return { type: "lost", attempts: attemptsIn(cause.lastHeartbeatDetails), ...late };
}

function failed(fault: string, message: string): Setback {
  return { type: "failed", failure: { fault, message: truncateForPreview(message, MAX_MESSAGE_BYTES) } };
}

/** How long a vendor wants to be left alone, where that is longer than Temporal's retry waits for it. */
function waitIn(details: unknown): VendorWait | undefined {
  const { wait } = (details ?? {}) as { readonly wait?: Partial<VendorWait> };
  const { forMs, attempts } = wait ?? {};
  return typeof forMs === "number" && typeof attempts === "number" ? { forMs, attempts } : undefined;
}

/** Heartbeats and `WorkerLost` say how often the vendor had been asked. */
function attemptsIn(details: unknown): number {
  const attempts = (details as { attempts?: unknown } | undefined)?.attempts;
  return typeof attempts === "number" ? attempts : 0;
}
