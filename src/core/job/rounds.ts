import type { Outcome } from "../../schema/record.ts";
import type { Rest } from "../task.ts";
import type { RefusedMessages, Waiting } from "../waiting-messages.ts";
import type { ModeStatus } from "./job-status.ts";

// An agent that works by itself, round by round: a round is a run in the same session.

export type RoundLimits = { readonly maxIdleRounds: number; readonly maxRounds: number | null };

/** What the next round is prompted with. */
export type RoundCause = "task" | "slept" | "woken" | "go-on";

/** What comes behind a round. */
export type AfterRound =
  | { readonly type: "end"; readonly outcome: Outcome; readonly done: boolean }
  | { readonly type: "sleep"; readonly seconds: number; readonly reason: string }
  /** `idle`: rounds in a row that have ended without a word on how the work goes on. */
  | { readonly type: "round"; readonly idle: number };

/**
 * @param idle - Rounds in a row before this one that have ended without a word on how the work goes on.
 * @param waiting - Somebody has sent words for the next round: they are not lost, whatever this one has said.
 */
export function afterRound(
  outcome: Outcome,
  rest: Rest | undefined,
  { idle, rounds, waiting }: { readonly idle: number; readonly rounds: number; readonly waiting: boolean },
  { maxIdleRounds, maxRounds }: RoundLimits,
): AfterRound {
  // A round that meets its own limit has not failed: the next one goes on.
  if (outcome.type !== "answered" && outcome.type !== "limit-reached")
    return { type: "end", outcome, done: false };
  const isLast = maxRounds !== null && rounds >= maxRounds;
  if (rest?.type === "done" && (!waiting || isLast)) {
    return { type: "end", outcome: { type: "answered", stopReason: "stop" }, done: true };
  }
  if (isLast) return limit(`Max rounds reached (${rounds}/${maxRounds})`);
  if (rest?.type === "sleep" && !waiting) return { ...rest };
  if (rest !== undefined || waiting) return { type: "round", idle: 0 };
  const now = idle + 1;
  if (now < maxIdleRounds) return { type: "round", idle: now };
  return limit(
    `${now} rounds in a row have ended without a call of finish_work or sleep (maxIdleRounds ${maxIdleRounds})`,
  );
}

function limit(reason: string): AfterRound {
  return { type: "end", outcome: { type: "limit-reached", reason }, done: false };
}

/** What an agent is told when a round begins that nobody has given words for. */
export const ROUND_WORDS = {
  slept: "The time that you wanted to sleep for has passed. Go on with your work.",
  woken: "You were woken before your time. Look at what has changed, and go on with your work.",
  "go-on":
    "Nobody is here to answer: you work by yourself. Go on. Call finish_work when the whole task is done or cannot be done, or sleep to wait for something.",
} as const satisfies Record<Exclude<RoundCause, "task">, string>;

/** Where an autonomous agent stands. */
export type Rounds = {
  /** That it has begun. */
  readonly rounds: number;
  /** When it wakes by itself. */
  readonly sleepsUntilMs?: number;
  /** Messages that wait for their round. */
  readonly waiting: Waiting;
  readonly refused?: RefusedMessages;
};

export function roundsStatus({ rounds, sleepsUntilMs, waiting, refused }: Rounds): ModeStatus {
  return {
    queued: { steering: 0, followUps: waiting.messages, bytes: waiting.bytes },
    ...(refused === undefined ? {} : { refusedMessages: refused }),
    job: { rounds, ...(sleepsUntilMs === undefined ? {} : { sleepsUntilMs }) },
  };
}
