import type { JobLimits } from "../../schema/mode.ts";
import type { Outcome } from "../../schema/record.ts";
import { openAccount, sumUsed } from "../budget/account.ts";
import type { Account, Amounts } from "../budget/account-state.ts";
import { buildAllowance, NO_AMOUNTS } from "../budget/amounts.ts";
import { NO_SPENDING } from "../budget/limits.ts";
import { getOutcomeCode } from "../machine/outcome-code.ts";
import type { OutcomeCode } from "../machine/state/ended-children.ts";
import type { TaskReport } from "../machine/state/task.ts";
import type { LostPart } from "../machine/task.ts";

// A job: agents that work together on a task. It has parts, each a run of its own, and the account that they share.
// Conversations stay in the sessions. A mode is a strategy on top of this state: see `src/workflows`.
//
// Invariants
//   J1. A part begins only with a share that was reserved for it, and its share is settled once.
//   J2. The result of a part is an outcome, however it ends; it never loses another part. A second end changes nothing.
//   J3. `counts` counts every part once, under its status.
//   J4. After a stop neither `beginPart` nor `beginMember` begins a part. The parts that run still end.

/** How the agents of a job work together. */
export type JobMode = "autonomous" | "pipeline" | "fan-out" | "supervisor" | "evaluation";

/** A part before it begins. */
export type PartPlan = {
  /** Unique in the job. */
  readonly name: string;
  readonly agent: string;
  /** The session with its conversation. */
  readonly session: string;
  /** The beginning of its task, when each part has a different one. */
  readonly task?: string;
  /** Present when the job knows it before the part begins. */
  readonly model?: string;
  readonly loopId?: string;
};

export type JobPart = PartPlan & {
  readonly state: "waiting" | "running" | "done";
  /** The id of the workflow that runs it, when it differs from the session's. */
  readonly workflow?: string;
  /** The share that is reserved for it and not settled yet. */
  readonly share?: string;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** The outcome of its newest run. */
  readonly outcome?: Outcome;
  readonly lost?: LostPart;
  readonly report?: Pick<TaskReport, "branch" | "loopId" | "position">;
  /** Used by all its runs and everything below them. */
  readonly spent: Amounts;
};

/** `waiting`, `running`, or how it ended. */
export type PartWord = "waiting" | "running" | OutcomeCode;
/** The number of parts of a job by status: `waiting`, `running`, or how they ended. */
export type PartCounts = Readonly<Record<PartWord, number>>;

export type JobState = {
  readonly job: string;
  readonly mode: JobMode;
  /** The beginning of the task, at most 256 bytes. */
  readonly goal: string;
  readonly startedAtMs: number;
  readonly maxDurationMs: number | null;
  readonly parts: readonly JobPart[];
  readonly counts: PartCounts;
  /** Names of agents that have a part, each once: the first few. */
  readonly agents: readonly string[];
  readonly account: Account;
  /** The number of shares that were reserved, which numbers them. */
  readonly shares: number;
  /** What it is doing in addition to its parts, as text. */
  readonly statusText: string;
  readonly stop?: { readonly reason: string };
  readonly outcome?: Outcome;
};

/** The depth of a job. Parts run one level below it; their definitions say how deep they go themselves. */
export const DEPTH = 100;

/** The number of names that a state stores. */
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
    account: openAccount(buildAllowance(limits, { maxDepth: DEPTH, maxChildren: null }, nowMs)),
    shares: 0,
    statusText: "",
  };
  return addParts(state, parts);
}

export function addParts(state: JobState, plans: readonly PartPlan[]): JobState {
  const parts = plans.map((plan): JobPart => ({ ...plan, state: "waiting", spent: NO_AMOUNTS }));
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
  return state === "done" ? getOutcomeCode(outcome) : state;
}

/** Ends the job early. The first reason counts; after the end, the request changes nothing. */
export function requestStop(state: JobState, reason: string): JobState {
  if (state.stop !== undefined || state.outcome !== undefined) return state;
  return { ...state, stop: { reason } };
}

export function getStopOutcome({ stop }: JobState): Extract<Outcome, { type: "stopped" }> | undefined {
  return stop === undefined ? undefined : { type: "stopped", reason: stop.reason };
}

/** Returns what all ended parts have spent. */
export function getSpentByJob({ account }: Pick<JobState, "account">): Amounts {
  return sumUsed(account, NO_SPENDING);
}
