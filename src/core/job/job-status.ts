import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import { toUsd } from "../budget/amounts.ts";
import { NO_SPENDING } from "../budget/limits.ts";
import { buildBudget } from "../budget/loop-budget.ts";
import type { Cost } from "../budget/usage.ts";
import { getOutcomeCode } from "../machine/outcome-code.ts";
import type { RunStatus } from "../machine/status.ts";
import type { StatusCode } from "../machine/status-code.ts";
import {
  getSpentByJob,
  type JobMode,
  type JobPart,
  type JobState,
  type PartCounts,
  partWord,
} from "./job.ts";

/** The status of one part. */
export type PartStatus = {
  /** Unique in the job. */
  readonly name: string;
  /** The name of its agent. */
  readonly agent: string;
  /** The session with its conversation. */
  readonly session: string;
  /** Whether it has begun, and whether it has ended. */
  readonly state: "waiting" | "running" | "done";
  readonly status: StatusCode;
  /** The number of turns so far. */
  readonly turns: number;
  readonly costUsd: Cost;
  /** The id of the model, as soon as it is known. */
  readonly model?: string;
  /** The id of the workflow that runs it, when it differs from the session's. */
  readonly workflow?: string;
  /** The beginning of its task, when each part has a different one. */
  readonly task?: string;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

/** The status of a job for users: that of any run, and its parts. A mode may add fields. */
export type JobStatus = RunStatus & {
  /** What the job adds to the status of a run. */
  readonly job: {
    /** How its agents work together. */
    readonly mode: JobMode;
    /** The number of parts by status. */
    readonly counts: PartCounts;
    /** At most 200: if there are more, the running ones, then the newest of those that have ended. */
    readonly parts: readonly PartStatus[];
    /** Why it ends early. */
    readonly stop?: string;
    /** Rounds that an autonomous agent has begun. */
    readonly rounds?: number;
    /** When it wakes by itself. */
    readonly sleepsUntilMs?: number;
  };
};

/** The fields with which a mode replaces those of any job. */
export type ModeStatus = Partial<Omit<RunStatus, "session" | "status" | "outcome">> & {
  readonly job?: Pick<JobStatus["job"], "rounds" | "sleepsUntilMs">;
};

/** The number of parts that a status lists. */
const MOST_PARTS = 200;
const STOP_BYTES = 200;
/** The maximum size of all agents' names together, in bytes: a search attribute is short. */
const AGENTS_BYTES = 117;

/** @param mostParts - The maximum number of listed parts. */
export function buildJobStatus<Mode extends ModeStatus>(
  state: JobState,
  mode: Mode,
  nowMs: number,
  mostParts = MOST_PARTS,
): JobStatus & Mode {
  const { turns, nanoUsd } = getSpentByJob(state);
  const { job, ...own }: ModeStatus = mode;
  const { stop, outcome, account, startedAtMs, maxDurationMs } = state;
  const spent = { ...NO_SPENDING, durationMs: nowMs - startedAtMs };
  const status: JobStatus = {
    session: state.job,
    status: getStatusCode(state, job),
    statusText: formatStatusText(state),
    agent: truncateForPreview(state.agents.join(", "), AGENTS_BYTES),
    model: undefined,
    definitionHash: undefined,
    pendingDefinitionHash: undefined,
    goal: state.goal,
    loopId: undefined,
    turns,
    costUsd: toUsd(nanoUsd),
    budget: outcome === undefined ? buildBudget(account, spent, maxDurationMs, nowMs) : undefined,
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
      parts: listParts(state, mostParts).map(buildPartStatus),
      ...(stop === undefined ? {} : { stop: redactPreview(stop.reason, STOP_BYTES) }),
      ...job,
    },
  };
  return status as JobStatus & Mode;
}

/** Returns all parts in their order if they are few; otherwise the running ones first, then the newest ended ones. */
function listParts({ parts }: JobState, most: number): readonly JobPart[] {
  if (parts.length <= most) return parts;
  const running = parts.filter(({ state }) => state === "running");
  const over = parts.filter(({ state }) => state === "done").reverse();
  const waiting = parts.filter(({ state }) => state === "waiting");
  return [...running, ...over, ...waiting].slice(0, most);
}

function buildPartStatus(part: JobPart): PartStatus {
  const { name, agent, session, state, spent, model, workflow, task, startedAtMs, endedAtMs } = part;
  return {
    name,
    agent,
    session,
    state,
    status: partWord(part),
    turns: spent.turns,
    costUsd: toUsd(spent.nanoUsd),
    ...omitUndefined({ model, workflow, task, startedAtMs, endedAtMs }),
  };
}

function getStatusCode({ outcome, stop }: JobState, job: ModeStatus["job"]): StatusCode {
  if (outcome !== undefined) return getOutcomeCode(outcome);
  if (stop !== undefined) return "stopping";
  return job?.sleepsUntilMs === undefined ? "running" : "waiting";
}

function formatStatusText({ outcome, statusText: said, parts, counts }: JobState): string {
  if (outcome !== undefined) return "nothing: the job has ended";
  if (counts.running === 0) return said || "deciding the next step";
  if (counts.running > MOST_NAMED) return `${counts.running} parts are running`;
  const running = parts.filter(({ state }) => state === "running").map(({ name }) => name);
  return `running: ${running.join(", ")}`;
}

/** The maximum number of running parts that are named. */
const MOST_NAMED = 20;
