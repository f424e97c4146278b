import { redactPreview } from "../../platform/text/redact.ts";
import type { RetryConfig } from "../../schema/recovery.ts";
import { findExhaustedLimit, getAccount } from "./child-shares.ts";
import type { PhaseOf } from "./phase.ts";
import type { Failure } from "./state/digest.ts";
import type { VendorDelay } from "./state/run-event.ts";
import type { State } from "./state/state.ts";
import { abortTurn, endWithoutAnswer } from "./turn-end.ts";

// When a vendor asks for a long delay, the run itself waits, not Temporal's retry: so its status says so, a stop ends the
// wait at once, and the loop's time keeps running.

/** Temporal handles shorter delays: a run that handled each of them would fill its history. */
const LONG_MS = 30_000;

/** The longest wait before the next attempt, unless the definition sets another. */
export const DEFAULT_MAX_WAIT_MS = 15 * 60_000;

/** The maximum size of the vendor's message in the state and in the status. */
const SHOWN_BYTES = 256;

/** When a vendor is called again: by Temporal after a delay, or by the run after a wait that its status reports. */
export type NextAttempt =
  | { readonly type: "retry"; readonly delayMs: number }
  | { readonly type: "wait"; readonly forMs: number };

/**
 * @param backoffMs - Our own delay, for a vendor that has specified none.
 * @param leftMs - Until the loop's time ends.
 */
export function planNextAttempt(
  retryAfterMs: number | undefined,
  backoffMs: number,
  { maxWaitMs = DEFAULT_MAX_WAIT_MS }: Pick<RetryConfig, "maxWaitMs">,
  leftMs = Number.POSITIVE_INFINITY,
): NextAttempt {
  const asked = retryAfterMs === undefined ? backoffMs : Math.min(retryAfterMs, maxWaitMs);
  // Zero would mean "as the policy says": at least one second, doubling.
  const delayMs = Math.max(1, asked);
  return delayMs > LONG_MS || delayMs >= leftMs
    ? { type: "wait", forMs: delayMs }
    : { type: "retry", delayMs };
}

/** Returns when the loop's time ends, whichever limit sets it. */
export function computeDeadline(state: State): number | undefined {
  const { own, allocation } = getAccount(state);
  const ends = [own.deadlineMs, allocation?.deadlineMs].filter((at) => at !== null && at !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

export function waitForVendor(
  state: State,
  phase: PhaseOf<"calling-model">,
  { forMs, attempts }: VendorDelay,
  { fault, message }: Failure,
): State {
  const { dispatch: pending } = phase;
  const waits = { untilMs: state.nowMs + forMs, fault, message: redactPreview(message, SHOWN_BYTES) };
  const waiting: PhaseOf<"calling-model"> = {
    ...phase,
    dispatch: { ...pending, generation: pending.generation + 1, lostWorkers: 0 },
    attemptsBefore: phase.attemptsBefore + attempts,
    vendorWait: waits,
  };
  return handleWaitTimer({ ...state, phase: waiting }, waiting);
}

/** Returns when the wait ends: the vendor may be called again, or the loop's time ends. */
export function computeWaitEnd(state: State, { untilMs }: { readonly untilMs: number }): number {
  return Math.min(untilMs, computeDeadline(state) ?? untilMs);
}

/** Ends the loop when its time is over, calls the vendor again, or keeps waiting when the limits were raised. */
export function handleWaitTimer(state: State, phase: PhaseOf<"calling-model">): State {
  const { vendorWait, ...asking } = phase;
  if (vendorWait === undefined) return state;
  const deadlineMs = computeDeadline(state);
  if (deadlineMs !== undefined && state.nowMs >= deadlineMs) {
    const reason = findExhaustedLimit(state) ?? "Max duration reached";
    const text = `[Agent stopped: ${reason}, while it waited for the model's vendor: ${vendorWait.message}]`;
    return endWithoutAnswer(state, "aborted", text, { type: "limit-reached", reason });
  }
  return state.nowMs < vendorWait.untilMs ? state : { ...state, phase: asking };
}

/** Ends the wait at a stop: no worker is running the step. */
export function stopWaiting(state: State, phase: PhaseOf<"calling-model">, reason: string): State {
  return phase.vendorWait === undefined ? state : abortTurn(state, reason);
}

type WaitingForVendor = NonNullable<PhaseOf<"calling-model">["vendorWait"]>;

/** Formats the wait for the status. */
export function formatVendorWait(
  { untilMs, fault, message }: WaitingForVendor,
  { redactContent, loop, pinned }: Pick<State, "redactContent" | "loop" | "pinned">,
): string {
  const model = pinned?.model ?? "the model";
  const reason = redactContent === true ? fault : `${fault}: ${message}`;
  return `waiting until ${new Date(untilMs).toISOString()} before ${model} is called again (turn ${loop?.turn ?? 0}; ${reason})`;
}
