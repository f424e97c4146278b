import { redactPreview } from "../../platform/text/redact.ts";
import type { RetryConfig } from "../../schema/definition.ts";
import { findExhaustedLimit, getAccount } from "./child-shares.ts";
import type { PhaseOf } from "./phase.ts";
import type { Failure } from "./state/digest.ts";
import type { State } from "./state/state.ts";
import { abortTurn, endWithoutAnswer } from "./turn-end.ts";

// A vendor that wants to be left alone for long is waited for by the run itself, not by Temporal's retry: so that its
// status says so, a stop ends it at once, and the loop's time goes on meanwhile.

/** Shorter delays are Temporal's: a run that came back for each of them would fill its history. */
const LONG_MS = 30_000;

/** A vendor that asks for more is looked at again after this, unless the definition says otherwise. */
export const DEFAULT_MAX_WAIT_MS = 15 * 60_000;

/** Of what the vendor has said, in the state and what shows it. */
const SHOWN_BYTES = 256;

/** When a vendor is asked again: by Temporal after a delay, or by the run after a wait that it shows. */
export type NextAttempt =
  | { readonly type: "retry"; readonly delayMs: number }
  | { readonly type: "wait"; readonly forMs: number };

/**
 * @param backoffMs - Our own delay, for a vendor that has named none.
 * @param leftMs - Until the loop's time is over.
 */
export function planNextAttempt(
  retryAfterMs: number | undefined,
  backoffMs: number,
  { maxWaitMs = DEFAULT_MAX_WAIT_MS }: Pick<RetryConfig, "maxWaitMs">,
  leftMs = Number.POSITIVE_INFINITY,
): NextAttempt {
  const asked = retryAfterMs === undefined ? backoffMs : Math.min(retryAfterMs, maxWaitMs);
  // Zero would mean "as the policy says": a second and more, doubling.
  const delayMs = Math.max(1, asked);
  return delayMs > LONG_MS || delayMs >= leftMs
    ? { type: "wait", forMs: delayMs }
    : { type: "retry", delayMs };
}

/** How a step that was not done wants to be waited for. */
export type VendorDelay = {
  readonly forMs: number;
  /** Times that the vendor was asked by the step. */
  readonly attempts: number;
};

/** The moment at which the loop's time is over, whoever has set it. */
export function computeDeadline(state: State): number | undefined {
  const { own, given } = getAccount(state);
  const ends = [own.deadlineMs, given?.deadlineMs].filter((at) => at !== null && at !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

export function waitForVendor(
  state: State,
  phase: PhaseOf<"calling-model">,
  { forMs, attempts }: VendorDelay,
  { fault, message }: Failure,
): State {
  const { issue: pending } = phase;
  const waits = { untilMs: state.nowMs + forMs, fault, message: redactPreview(message, SHOWN_BYTES) };
  const waiting: PhaseOf<"calling-model"> = {
    ...phase,
    issue: { ...pending, generation: pending.generation + 1, lost: 0 },
    attemptsBefore: phase.attemptsBefore + attempts,
    waits,
  };
  return handleWaitTimer({ ...state, phase: waiting }, waiting);
}

/** Until the vendor may be asked again, or the loop's time is over. */
export function computeWaitEnd(state: State, { untilMs }: { readonly untilMs: number }): number {
  return Math.min(untilMs, computeDeadline(state) ?? untilMs);
}

/** The loop's time is over; or the vendor is asked again; or neither yet, where somebody has allowed more time meanwhile. */
export function handleWaitTimer(state: State, phase: PhaseOf<"calling-model">): State {
  const { waits, ...asking } = phase;
  if (waits === undefined) return state;
  const deadlineMs = computeDeadline(state);
  if (deadlineMs !== undefined && state.nowMs >= deadlineMs) {
    const reason = findExhaustedLimit(state) ?? "Max duration reached";
    const text = `[Agent stopped: ${reason}, while the model's vendor was waited for: ${waits.message}]`;
    return endWithoutAnswer(state, "aborted", text, { type: "limit-reached", reason });
  }
  return state.nowMs < waits.untilMs ? state : { ...state, phase: asking };
}

/** Nobody works on the step: a stop ends it here. */
export function stopWaiting(state: State, phase: PhaseOf<"calling-model">, reason: string): State {
  return phase.waits === undefined ? state : abortTurn(state, reason);
}

type WaitingForVendor = NonNullable<PhaseOf<"calling-model">["waits"]>;

/** For who reads the status. */
export function formatVendorWait(
  { untilMs, fault, message }: WaitingForVendor,
  { words: redactContent, loop, pinned }: Pick<State, "words" | "loop" | "pinned">,
): string {
  const model = pinned?.model ?? "the model";
  const reason = redactContent === "none" ? fault : `${fault}: ${message}`;
  return `waiting until ${new Date(untilMs).toISOString()} before ${model} is asked again (turn ${loop?.turn ?? 0}; ${reason})`;
}
