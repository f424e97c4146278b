import { toUsd } from "../budget/amounts.ts";
import { budgetIn } from "../budget-shown.ts";
import { outcomeWord } from "../outcome-word.ts";
import { truncateForPreview } from "../preview.ts";
import { shownBriefly } from "../redact.ts";
import type { Status, StatusWord } from "../status.ts";
import type { Cost } from "../usage.ts";
import {
  type JobMode,
  type JobPart,
  type JobState,
  NO_SPENDING,
  type PartCounts,
  partWord,
  usedByJob,
} from "./job.ts";

/** Where one part stands. */
export type PartStatus = Pick<JobPart, "name" | "agent" | "session" | "state"> &
  Partial<Pick<JobPart, "model" | "workflow" | "task" | "startedAtMs" | "endedAtMs">> & {
    readonly status: StatusWord;
    readonly turns: number;
    readonly costUsd: Cost;
  };

/** What a person wants to know of a job: what they want to know of any run, and its parts. A mode may say more beside. */
export type JobStatus = Status & {
  readonly job: {
    readonly mode: JobMode;
    /** How many parts stand where. */
    readonly counts: PartCounts;
    /** 200 at most: of more than that those at work, then the newest of those that are over. */
    readonly parts: readonly PartStatus[];
    /** Why it ends before its time. */
    readonly stop?: string;
    /** Rounds that an autonomous agent has begun. */
    readonly rounds?: number;
    /** When it wakes by itself. */
    readonly sleepsUntilMs?: number;
  };
};

/** What a mode says of itself, in place of what is said of any job. */
export type ModeStatus = Partial<Omit<Status, "session" | "status" | "outcome">> & {
  readonly job?: Pick<JobStatus["job"], "rounds" | "sleepsUntilMs">;
};

/** Parts that a status lists. */
const MOST_PARTS = 200;
const STOP_BYTES = 200;
/** Of the names of all agents, in bytes: a search attribute is short. */
const AGENTS_BYTES = 117;

/** @param mostParts - That are listed. */
export function jobStatus<Mode extends ModeStatus>(
  state: JobState,
  mode: Mode,
  nowMs: number,
  mostParts = MOST_PARTS,
): JobStatus & Mode {
  const { turns, nanoUsd } = usedByJob(state);
  const { job, ...own }: ModeStatus = mode;
  const { stop, outcome, account, startedAtMs, maxDurationMs } = state;
  const spent = { ...NO_SPENDING, durationMs: nowMs - startedAtMs };
  const status: JobStatus = {
    session: state.job,
    status: statusWord(state, job),
    doing: doing(state),
    agent: truncateForPreview(state.agents.join(", "), AGENTS_BYTES),
    model: undefined,
    definitionHash: undefined,
    movesTo: undefined,
    goal: state.goal,
    loopId: undefined,
    turns,
    costUsd: toUsd(nanoUsd),
    budget: outcome === undefined ? budgetIn(account, spent, maxDurationMs, nowMs) : undefined,
    children: undefined,
    contextTokens: 0,
    queued: { steering: 0, followUps: 0 },
    approvals: [],
    running: [],
    lastText: undefined,
    outcome,
    ...own,
    job: {
      mode: state.mode,
      counts: state.counts,
      parts: shownParts(state, mostParts).map(partStatus),
      ...(stop === undefined ? {} : { stop: shownBriefly(stop.reason, STOP_BYTES) }),
      ...job,
    },
  };
  return status as JobStatus & Mode;
}

/** All of a few, in their order. */
function shownParts({ parts }: JobState, most: number): readonly JobPart[] {
  if (parts.length <= most) return parts;
  const running = parts.filter(({ state }) => state === "running");
  const over = parts.filter(({ state }) => state === "done").reverse();
  const waiting = parts.filter(({ state }) => state === "waiting");
  return [...running, ...over, ...waiting].slice(0, most);
}

function partStatus(part: JobPart): PartStatus {
  const { name, agent, session, state, used, model, workflow, task, startedAtMs, endedAtMs } = part;
  return {
    name,
    agent,
    session,
    state,
    status: partWord(part),
    turns: used.turns,
    costUsd: toUsd(used.nanoUsd),
    ...(model === undefined ? {} : { model }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(task === undefined ? {} : { task }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
  };
}

function statusWord({ outcome, stop }: JobState, job: ModeStatus["job"]): StatusWord {
  if (outcome !== undefined) return outcomeWord(outcome);
  if (stop !== undefined) return "stopping";
  return job?.sleepsUntilMs === undefined ? "running" : "waiting";
}

function doing({ outcome, doing: said, parts, counts }: JobState): string {
  if (outcome !== undefined) return "nothing: the job has ended";
  if (counts.running === 0) return said || "deciding what comes next";
  if (counts.running > MOST_NAMED) return `${counts.running} parts are at work`;
  const running = parts.filter(({ state }) => state === "running").map(({ name }) => name);
  return `at work: ${running.join(", ")}`;
}

/** Parts at work that are named. */
const MOST_NAMED = 20;
