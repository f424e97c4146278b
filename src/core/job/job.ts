import type { JobLimits } from "../../schema/mode.ts";
import type { Outcome } from "../../schema/record.ts";
import { type Account, openAccount, used } from "../budget/account.ts";
import { type Amounts, allowanceOf, NOTHING } from "../budget/amounts.ts";
import type { Spent } from "../limits.ts";
import { type OutcomeWord, outcomeWord } from "../outcome-word.ts";
import type { LostPart, TaskReport } from "../task.ts";

// Agents that work together on a task, seen from above: parts, each a run of its own, and the account that they share.
// What is said stays in the sessions. What a mode does beside that is a strategy above this state: see `workflows`.
//
// Invariants
//   J1. A part begins only with a share that was set aside for it, and its share is settled once.
//   J2. What a part comes to is an outcome, however it ends; it never loses another part. A second end changes nothing.
//   J3. `counts` counts every part once, under its status.

export type JobMode = "autonomous" | "pipeline" | "fan-out" | "supervisor" | "evaluation";

/** Who works on what, before it begins. */
export type PartPlan = {
  /** Unique in the job. */
  readonly name: string;
  readonly agent: string;
  /** Where its words stand. */
  readonly session: string;
  /** A few words of its task, where each part has another one. */
  readonly task?: string;
  /** Where the job knows it before the part begins. */
  readonly model?: string;
  readonly loopId?: string;
};

export type JobPart = PartPlan & {
  readonly state: "waiting" | "running" | "done";
  /** Of the workflow that runs it, where that is not named as the session is. */
  readonly workflow?: string;
  /** Set aside for it and not settled yet. */
  readonly share?: string;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Of its newest run. */
  readonly outcome?: Outcome;
  readonly lost?: LostPart;
  readonly report?: Pick<TaskReport, "branch" | "loopId" | "position">;
  /** Of all its runs, with all below them. */
  readonly used: Amounts;
};

/** `waiting`, `running`, or how it ended. */
export type PartWord = "waiting" | "running" | OutcomeWord;
export type PartCounts = Readonly<Record<PartWord, number>>;

export type JobState = {
  readonly job: string;
  readonly mode: JobMode;
  /** A few words of the task, at most 256 bytes. */
  readonly goal: string;
  readonly startedAtMs: number;
  readonly maxDurationMs: number | null;
  readonly parts: readonly JobPart[];
  readonly counts: PartCounts;
  /** Names of agents that have a part, each once: the first few. */
  readonly agents: readonly string[];
  readonly account: Account;
  /** Shares that were set aside: each has a number of its own. */
  readonly shares: number;
  /** What it is doing beside its parts, in words. */
  readonly doing: string;
  readonly stop?: { readonly reason: string };
  readonly outcome?: Outcome;
};

/** Runs of parts stand one level below the job; how deep they go themselves is for their definitions to say. */
export const DEPTH = 100;

/** Names that a state keeps. */
const MOST_AGENTS = 20;

const NO_PARTS: PartCounts = {
  waiting: 0,
  running: 0,
  completed: 0,
  "limit-reached": 0,
  failed: 0,
  stopped: 0,
};

export type JobOpening = Pick<JobState, "job" | "mode" | "goal"> & {
  readonly parts: readonly PartPlan[];
  readonly limits: JobLimits;
  readonly nowMs: number;
};

export function openJob({ job, mode, goal, parts, limits, nowMs }: JobOpening): JobState {
  const state: JobState = {
    job,
    mode,
    goal,
    startedAtMs: nowMs,
    maxDurationMs: limits.maxDurationMs,
    parts: [],
    counts: NO_PARTS,
    agents: [],
    account: openAccount(allowanceOf(limits, { maxDepth: DEPTH, maxChildren: null }, nowMs)),
    shares: 0,
    doing: "",
  };
  return addParts(state, parts);
}

export function addParts(state: JobState, plans: readonly PartPlan[]): JobState {
  const parts = plans.map((plan): JobPart => ({ ...plan, state: "waiting", used: NOTHING }));
  const waiting = state.counts.waiting + parts.length;
  const agents = [...new Set([...state.agents, ...parts.map(({ agent }) => agent)])].slice(0, MOST_AGENTS);
  return { ...state, parts: [...state.parts, ...parts], counts: { ...state.counts, waiting }, agents };
}

export function changePart(state: JobState, index: number, change: Partial<JobPart>): JobState {
  const before = state.parts[index];
  if (before === undefined) return state;
  const after = { ...before, ...change };
  const counts: Record<PartWord, number> = { ...state.counts };
  counts[partWord(before)] -= 1;
  counts[partWord(after)] += 1;
  return { ...state, parts: state.parts.with(index, after), counts };
}

export function partWord({ state, outcome }: Pick<JobPart, "state" | "outcome">): PartWord {
  return state === "done" ? outcomeWord(outcome) : state;
}

/** Ends the job before its time. The first reason counts, and none once it is over. */
export function requestStop(state: JobState, reason: string): JobState {
  if (state.stop !== undefined || state.outcome !== undefined) return state;
  return { ...state, stop: { reason } };
}

/** A job spends nothing itself. */
export const NO_SPENDING: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };

/** What all parts that are over have spent. */
export function usedByJob({ account }: Pick<JobState, "account">): Amounts {
  return used(account, NO_SPENDING);
}
