import type { JobLimits } from "../../schema/mode.ts";
import type { Outcome } from "../../schema/record.ts";
import { type Account, openAccount, settle, used } from "../budget/account.ts";
import { type Allowance, type Amounts, addAmounts, allowanceOf, NOTHING } from "../budget/amounts.ts";
import type { Spent } from "../budget/limits.ts";
import { budgetReached } from "../budget/refusal.ts";
import { reserve } from "../budget/reserve.ts";
import type { PartEnd, Rest, TaskReport } from "../machine/task.ts";

// What agents do together, seen from above: parts, each a run of its own, and the account that they share. The words
// stay in their sessions.
//
// Invariants
//   J1. A part begins only with a share that was set aside for it, and its share is settled once, when it is over.
//   J2. What a part comes to is an outcome, however it ends; it never loses another part.

export type JobMode = "autonomous" | "pipeline" | "fan-out";

export type JobPart = {
  readonly name: string;
  readonly agent: string;
  readonly session: string;
  readonly state: "waiting" | "running" | "done";
  /** Of its newest run. */
  readonly outcome?: Outcome;
  readonly report?: Pick<TaskReport, "branch" | "loopId" | "position">;
  /** Of all its runs, with all below them. */
  readonly used: Amounts;
};

export type JobState = {
  readonly job: string;
  readonly mode: JobMode;
  /** A few words of the task, at most 256 bytes. */
  readonly goal: string;
  readonly parts: readonly JobPart[];
  readonly account: Account;
  /** Runs that were begun: each has a share of its own. */
  readonly begun: number;
  /** What it is doing beside its parts, in words. */
  readonly doing: string;
  readonly stop?: { readonly reason: string };
  readonly outcome?: Outcome;
};

/** Runs of parts stand one level below the job; how deep they go themselves is for their definitions to say. */
const DEPTH = 100;

export type JobOpening = {
  readonly job: string;
  readonly mode: JobMode;
  readonly goal: string;
  readonly parts: readonly { readonly name: string; readonly agent: string; readonly session: string }[];
  readonly limits: JobLimits;
  readonly nowMs: number;
};

export function openJob({ job, mode, goal, parts, limits, nowMs }: JobOpening): JobState {
  return {
    job,
    mode,
    goal,
    parts: parts.map((part) => ({ ...part, state: "waiting", used: NOTHING })),
    account: openAccount(allowanceOf(limits, { maxDepth: DEPTH, maxChildren: null }, nowMs)),
    begun: 0,
    doing: "",
  };
}

/** A job spends nothing itself. */
export const NO_SPENDING: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };

/** A part asks for nothing of its own: its definition's limits hold in its run. */
const ALL: Allowance = {
  turns: null,
  tokens: null,
  nanoUsd: null,
  children: null,
  deadlineMs: null,
  depth: DEPTH,
};

export type Begun =
  | { readonly type: "begun"; readonly state: JobState; readonly given: Allowance; readonly share: string }
  | { readonly type: "refused"; readonly state: JobState; readonly reason: string };

/**
 * Begins a part with a fair share of what is left.
 *
 * @param waiting - Parts that want to begin too, this one among them: each is left as much.
 */
export function beginPart(state: JobState, index: number, waiting: number, nowMs: number): Begun {
  const reached = budgetReached(state.account, NO_SPENDING, nowMs);
  if (reached !== undefined) return { type: "refused", state, reason: reached };
  const share = `${state.begun}`;
  const others = Array.from({ length: waiting - 1 }, (_, at) => ({ id: `waiting-${at}`, own: ALL }));
  const asked = [{ id: share, own: ALL }, ...others];
  const { account, reservations } = reserve(state.account, NO_SPENDING, asked, nowMs, 0);
  const [first] = reservations;
  if (first?.type !== "reserved") return { type: "refused", state, reason: first?.reason ?? "" };
  const open = Object.fromEntries(Object.entries(account.open).filter(([id]) => !id.startsWith("waiting-")));
  const begun = withPart(state, index, (part) => ({ ...part, state: "running" }));
  return {
    type: "begun",
    state: { ...begun, account: { ...account, open }, begun: state.begun + 1 },
    given: first.given,
    share,
  };
}

/** A part's run is over: what it has spent counts, the rest of its share is free again. */
export function endPart(state: JobState, index: number, share: string, end: PartEnd): JobState {
  const spent = end.report?.used ?? NOTHING;
  return {
    ...ended(state, index, end, spent),
    account: settle(state.account, share, spent),
  };
}

/** An earlier start of the job has had this part done: it is not done again, and what it has cost counts. */
export function recallPart(state: JobState, index: number, report: TaskReport): JobState {
  const { account } = state;
  const recalled = ended(state, index, { type: "reported", report }, report.used);
  return { ...recalled, account: { ...account, settled: addAmounts(account.settled, report.used) } };
}

/** It could not begin. */
export function refusePart(state: JobState, index: number, reason: string): JobState {
  const outcome: Outcome = { type: "limit-reached", reason };
  return withPart(state, index, (part) => ({ ...part, state: "done", outcome }));
}

function ended(state: JobState, index: number, end: PartEnd, spent: Amounts): JobState {
  const { report } = end;
  return withPart(state, index, (part) => ({
    ...part,
    state: "done",
    outcome: outcomeOf(end),
    ...(report === undefined ? {} : { report: whereOf(report) }),
    used: addAmounts(part.used, spent),
  }));
}

export function outcomeOf(end: PartEnd): Outcome {
  if (end.type === "reported") return end.report.outcome;
  return { type: "failed", fault: "lost", message: `It did not come to an end: ${end.how}` };
}

export function restOf({ report }: PartEnd): Rest | undefined {
  return report?.rest;
}

function whereOf({ branch, loopId, position }: TaskReport) {
  return {
    branch,
    ...(loopId === undefined ? {} : { loopId }),
    ...(position === undefined ? {} : { position }),
  };
}

function withPart(state: JobState, index: number, change: (part: JobPart) => JobPart): JobState {
  return { ...state, parts: state.parts.map((part, at) => (at === index ? change(part) : part)) };
}

/** What all parts that are over have spent. */
export function usedByJob({ account }: JobState): Amounts {
  return used(account, NO_SPENDING);
}
