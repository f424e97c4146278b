import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { computeRemaining, settle } from "../budget/account.ts";
import type { Allowance, Amounts } from "../budget/account-state.ts";
import { addAmounts, NO_AMOUNTS } from "../budget/amounts.ts";
import { NO_SPENDING } from "../budget/limits.ts";
import { type Reservation, reserve } from "../budget/reserve.ts";
import { findExhaustedBudget } from "../budget/shortage.ts";
import type { NextRound, TaskReport } from "../machine/state/task.ts";
import type { PartEnd } from "../machine/task.ts";
import { changePart, DEPTH, getStopOutcome, type JobPart, type JobState } from "./job.ts";

// The life of a part: a share is reserved, the part begins and ends, its share is settled.

/** A part that is to begin. */
export type ShareRequest = {
  readonly part: number;
  /** The most that it can use. */
  readonly own: Allowance;
};

/**
 * Reserves shares for parts that begin together: see `reserve`.
 *
 * @param keep - An equal share stays for one more part that begins later.
 */
export function reserveShares(
  state: JobState,
  asked: readonly ShareRequest[],
  nowMs: number,
  keep: 0 | 1 = 0,
): { readonly state: JobState; readonly reservations: readonly Reservation[] } {
  const wanted = asked.map(({ own }, at) => ({ id: String(state.shares + at), own }));
  const { account, reservations } = reserve(state.account, NO_SPENDING, wanted, nowMs, keep);
  const reserved = asked.reduce((before, { part }, at) => {
    const reservation = reservations[at]!;
    return reservation.type === "reserved" ? changePart(before, part, { share: reservation.id }) : before;
  }, state);
  return { state: { ...reserved, account, shares: state.shares + asked.length }, reservations };
}

/** Computes one of so many equal shares of what is left, at least one of each amount. Time is not divided. */
export function equalShare({ account }: JobState, parties: number, nowMs: number): Allowance {
  const { turns, tokens, nanoUsd } = computeRemaining(account, NO_SPENDING, nowMs);
  const one = (amount: number | null) =>
    amount === null ? null : Math.max(1, Math.floor(amount / Math.max(1, parties)));
  return {
    turns: one(turns),
    tokens: one(tokens),
    nanoUsd: one(nanoUsd),
    children: account.own.children,
    deadlineMs: account.own.deadlineMs,
    depth: DEPTH,
  };
}

export type BeginPartResult =
  | { readonly type: "started"; readonly state: JobState; readonly allocation: Allowance }
  | {
      readonly type: "denied";
      readonly state: JobState;
      readonly outcome: Extract<Outcome, { type: "limit-reached" | "stopped" }>;
    };

/**
 * Begins a part with a fair share of what is left. After a stop, the part keeps waiting.
 *
 * @param waiting - The number of parts that want to begin too, including this one: each can have as much.
 */
export function beginPart(state: JobState, part: number, waiting: number, nowMs: number): BeginPartResult {
  const stopped = getStopOutcome(state);
  if (stopped !== undefined) return { type: "denied", state, outcome: stopped };
  const reason = findExhaustedBudget(state.account, NO_SPENDING, nowMs);
  if (reason !== undefined) return refuseAtLimit(state, part, reason, nowMs);
  const { turns, tokens, nanoUsd } = computeRemaining(state.account, NO_SPENDING, nowMs);
  // Parts that could get nothing do not reduce the shares of the others.
  const parties = Math.min(waiting, turns ?? waiting, tokens ?? waiting, nanoUsd ?? waiting);
  return beginPartWith(state, part, equalShare(state, parties, nowMs), nowMs);
}

/** Begins a part with at most this allowance. */
export function beginPartWith(state: JobState, part: number, own: Allowance, nowMs: number): BeginPartResult {
  const { state: reserved, reservations } = reserveShares(state, [{ part, own }], nowMs);
  const share = reservations[0]!;
  if (share.type === "denied") return refuseAtLimit(state, part, share.reason, nowMs);
  return { type: "started", state: startPart(reserved, part, nowMs), allocation: share.allocation };
}

function refuseAtLimit(state: JobState, part: number, reason: string, nowMs: number): BeginPartResult {
  return {
    type: "denied",
    state: refusePart(state, part, reason, nowMs),
    outcome: { type: "limit-reached", reason },
  };
}

/** @param workflow - The workflow's id, when it differs from the session's. */
export function startPart(state: JobState, part: number, nowMs: number, workflow?: string): JobState {
  return changePart(state, part, {
    state: "running",
    startedAtMs: nowMs,
    ...omitUndefined({ workflow }),
  });
}

/** Ends a part that could not begin. */
export function refusePart(state: JobState, part: number, reason: string, nowMs: number): JobState {
  const outcome: Outcome = { type: "limit-reached", reason };
  return changePart(state, part, { state: "done", outcome, endedAtMs: nowMs });
}

/**
 * Ends a part whose run has ended: what it has spent counts, and the rest of its share is free again.
 *
 * @param settles - `when-known`: the share of a run without a report stays reserved until `settlePart`. By default it is
 *   free at once.
 */
export function endPart(
  state: JobState,
  part: number,
  end: PartEnd,
  nowMs: number,
  settles?: "when-known",
): JobState {
  if (state.parts[part]?.state !== "running") return state;
  const ended = changePart(state, part, { ...comeTo(end), endedAtMs: nowMs });
  if (end.report === undefined && settles === "when-known") return ended;
  return settlePart(ended, part, end.report?.used ?? NO_AMOUNTS);
}

/** Settles a part when the spending of its run is known. */
export function settlePart(state: JobState, part: number, spent: Amounts): JobState {
  const { share, spent: used = NO_AMOUNTS, ...rest } = state.parts[part] ?? {};
  if (share === undefined) return state;
  const parts = state.parts.with(part, { ...(rest as JobPart), spent: addAmounts(used, spent) });
  return { ...state, parts, account: settle(state.account, share, spent) };
}

/** Restores a part that an earlier start of the job completed: it does not run again, and its cost counts. */
export function recallPart(state: JobState, part: number, report: TaskReport): JobState {
  const { account } = state;
  return {
    ...changePart(state, part, { ...comeTo({ type: "reported", report }), spent: report.used }),
    account: { ...account, settled: addAmounts(account.settled, report.used) },
  };
}

function comeTo(end: PartEnd): Partial<JobPart> {
  const { report } = end;
  return {
    state: "done",
    outcome: getOutcome(end),
    ...(end.type === "lost" ? { lost: { reason: end.reason, cause: end.cause } } : {}),
    ...(report === undefined ? {} : { report: getPosition(report) }),
  };
}

export function getOutcome(end: PartEnd): Outcome {
  if (end.type === "reported") return end.report.outcome;
  return { type: "failed", fault: "lost", message: `It ended without a result: ${end.reason}` };
}

export function getNextRound({ report }: PartEnd): NextRound | undefined {
  return report?.nextRound;
}

function getPosition({ branch, loopId, position }: TaskReport) {
  return {
    branch,
    ...omitUndefined({ loopId, position }),
  };
}
