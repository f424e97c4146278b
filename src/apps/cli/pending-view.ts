import type { PendingActivity, SessionStatus } from "../../client/index.ts";
import { formatWait } from "../../client/runs/pending-activity.ts";
import { shortenText } from "./text.ts";

// Formats pending steps for the user.

const FAILURE_CHARS = 300;

/** Formats all pending steps of a session, and the retried steps of its sub-agents. */
export function formatPending(
  { pending, retryingBelow = [] }: Pick<SessionStatus, "pending" | "retryingBelow">,
  nowMs: number,
): readonly string[] {
  return [
    ...pending.map((step) => describePending(step, nowMs)),
    ...retryingBelow.map(
      (step) => `${step.path.join(" › ")} (${step.session}): ${describePending(step, nowMs)}`,
    ),
  ];
}

export function describePending(step: PendingActivity, nowMs: number): string {
  const { type, state, attempt, maxAttempts, startedAt, lastFailure } = step;
  const of = maxAttempts === undefined ? "" : ` of ${maxAttempts}`;
  const since =
    state === "started" && startedAt !== undefined
      ? ` for ${formatSeconds(nowMs - startedAt.getTime())}`
      : "";
  const failure =
    lastFailure === undefined ? "" : `; last failure: ${shortenText(lastFailure, FAILURE_CHARS)}`;
  const waits = step.wait === undefined ? "" : `; ${formatWait(step.wait, nowMs)}`;
  return `${type}: ${state}${since}, attempt ${attempt}${of}${formatNextAttempt(step, nowMs)}${waits}${failure}`;
}

function formatNextAttempt({ nextAttemptAt, attempt }: PendingActivity, nowMs: number): string {
  if (nextAttemptAt === undefined || attempt === 1) return "";
  const inMs = nextAttemptAt.getTime() - nowMs;
  const when = inMs <= 0 ? "now" : `in ${formatSeconds(inMs)}`;
  return `, next ${when} (${nextAttemptAt.toISOString()})`;
}

function formatSeconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1000))} s`;
}
