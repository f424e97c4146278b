import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import type { QueueSize } from "../machine/queue-size.ts";
import type { RejectedMessages } from "../machine/state/inbound-message.ts";
import type { NextRound } from "../machine/state/task.ts";
import type { ModeStatus } from "./job-status.ts";

// An agent that works autonomously, round by round: a round is a run in the same session.

export type RoundLimits = { readonly maxIdleRounds: number; readonly maxRounds: number | null };

/** What the next round is prompted with. */
export type RoundCause = "task" | "timer" | "wake" | "continue";

/** What follows a round. */
export type AfterRound =
  | { readonly type: "end"; readonly outcome: Outcome; readonly isDone: boolean }
  | { readonly type: "sleep"; readonly seconds: number; readonly reason: string }
  /** `idleRounds`: consecutive rounds that ended without a call that says how the work continues. */
  | { readonly type: "round"; readonly idleRounds: number };

/**
 * @param idle - Consecutive earlier rounds that ended without a call that says how the work continues.
 * @param waiting - Messages wait for the next round: they are not lost, whatever the result of this round is.
 */
export function decideAfterRound(
  outcome: Outcome,
  nextRound: NextRound | undefined,
  {
    idle: idleRounds,
    rounds,
    waiting,
  }: { readonly idle: number; readonly rounds: number; readonly waiting: boolean },
  { maxIdleRounds, maxRounds }: RoundLimits,
): AfterRound {
  // A round that reaches its own limit has not failed: the next one continues.
  if (outcome.type !== "answered" && outcome.type !== "limit-reached")
    return { type: "end", outcome, isDone: false };
  const isLast = maxRounds !== null && rounds >= maxRounds;
  if (nextRound?.type === "done" && (!waiting || isLast)) {
    return { type: "end", outcome: { type: "answered", stopReason: "stop" }, isDone: true };
  }
  if (isLast) return endAtLimit(`Max rounds reached (${rounds}/${maxRounds})`);
  if (nextRound?.type === "sleep" && !waiting) return { ...nextRound };
  if (waiting) return { type: "round", idleRounds: 0 };
  const now = idleRounds + 1;
  if (now < maxIdleRounds) return { type: "round", idleRounds: now };
  return endAtLimit(
    `${now} consecutive rounds ended without a call to finish_work or sleep (maxIdleRounds ${maxIdleRounds})`,
  );
}

function endAtLimit(reason: string): AfterRound {
  return { type: "end", outcome: { type: "limit-reached", reason }, isDone: false };
}

/** The prompts of rounds that begin without a message. */
export const ROUND_PROMPTS = {
  timer: "Your sleep is over. Continue your work.",
  wake: "You were woken early. Check what has changed, and continue your work.",
  continue:
    "No user is available to answer: you work autonomously. Continue. Call finish_work when the whole task is done or cannot be done, or call sleep to wait for something.",
} as const satisfies Record<Exclude<RoundCause, "task">, string>;

/** The progress of an autonomous agent. */
export type Rounds = {
  /** The number of rounds that it has begun. */
  readonly rounds: number;
  /** When it wakes by itself. */
  readonly sleepsUntilMs?: number;
  /** Messages that wait for their round. */
  readonly waiting: QueueSize;
  readonly refused?: RejectedMessages;
};

export function roundsStatus({ rounds, sleepsUntilMs, waiting, refused }: Rounds): ModeStatus {
  return {
    queued: { steering: 0, followUps: waiting.messages, bytes: waiting.bytes },
    ...omitUndefined({ rejectedMessages: refused }),
    job: { rounds, ...omitUndefined({ sleepsUntilMs }) },
  };
}
