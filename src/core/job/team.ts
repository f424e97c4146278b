import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Allowance } from "../budget/account-state.ts";
import { toUsd } from "../budget/amounts.ts";
import type { Cost } from "../budget/usage.ts";
import { getOutcomeCode } from "../machine/outcome-code.ts";
import type { OutcomeCode } from "../machine/state/ended-children.ts";
import { addParts, type JobOpening, type JobPart, type JobState, openJob } from "./job.ts";
import { beginPartWith, equalShare, startPart } from "./parts.ts";

// A lead and the agents to which it delegates tasks: a job whose first part is the lead, and which gets a part per task.

/** An agent to which tasks can be delegated. */
export type NamedAgent = {
  readonly name: string;
  readonly description: string;
  readonly definitionHash: string;
};

/** What the lead may delegate to. */
export type Team = { readonly agents: readonly NamedAgent[]; readonly maxAgents: number };

/** One delegated task and the agent that works on it, as the lead sees them. */
export type Member = {
  /** The lead's name for it: `{name}-{n}`. */
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  /** The beginning of the task. */
  readonly task: string;
  readonly status: "running" | OutcomeCode;
  /** Why it ended, when it did not answer. */
  readonly reason?: string;
  /** The position of its last text; absent while it runs, and when it has none. */
  readonly lastAnswer?: { readonly branch: string; readonly position: number };
  /** Includes everything below it; present when it has ended. */
  readonly spent?: { readonly turns: number; readonly costUsd: Cost };
};

/** The index of the lead's part. */
export const LEAD_PART = 0;

/** A lead's session is named after the job. */
const LEAD_SUFFIX = ".lead";

/** Returns the job for which a lead works, from the lead's session. */
export function parseLeadJob(session: string): string | undefined {
  return session.endsWith(LEAD_SUFFIX) ? session.slice(0, -LEAD_SUFFIX.length) : undefined;
}

/** Begins the lead with as much as each named agent could also have. */
export function openTeam(
  opening: Omit<JobOpening, "mode" | "parts">,
  { agents }: Team,
): { readonly state: JobState; readonly allocation: Allowance } {
  const { job, nowMs } = opening;
  const lead = { name: "lead", agent: "lead", session: `${job}${LEAD_SUFFIX}` };
  const state = openJob({ ...opening, mode: "supervisor", parts: [lead] });
  const begun = beginPartWith(state, LEAD_PART, equalShare(state, agents.length + 1, nowMs), nowMs);
  if (begun.type === "started") return { state: begun.state, allocation: begun.allocation };
  // Its run reports that there is nothing to spend.
  return { state: startPart(state, LEAD_PART, nowMs), allocation: { ...state.account.own, turns: 0 } };
}

export type Handed =
  | {
      readonly type: "started";
      readonly state: JobState;
      /** The index of the new part. */
      readonly part: number;
      readonly allocation: Allowance;
    }
  /** The reason, for the model that requested it. */
  | { readonly type: "denied"; readonly reason: string };

const TASK_BYTES = 160;

/** Adds an agent with a share of what is left for all agents that could still run at the same time. */
export function beginMember(
  state: JobState,
  { agents, maxAgents }: Team,
  { agent, task }: { readonly agent: string; readonly task: string },
  nowMs: number,
): Handed {
  if (!agents.some(({ name }) => name === agent)) {
    const known = agents.map(({ name }) => name).join(", ");
    return { type: "denied", reason: `Unknown agent "${agent}". Known agents: ${known}.` };
  }
  if (isEnding(state)) return { type: "denied", reason: "The job is ending, so no new task can start." };
  const members = listMembers(state);
  if (members.length >= maxAgents) {
    return {
      type: "denied",
      reason: `Not started: ${maxAgents} tasks were delegated, which is the maximum.`,
    };
  }
  const idle = agents.length - membersAtWork(state);
  const name = `${agent}-${members.filter((member) => member.agent === agent).length + 1}`;
  const plan = { name, agent, session: `${state.job}.${name}`, task: truncateForPreview(task, TASK_BYTES) };
  const part = state.parts.length;
  const begun = beginPartWith(addParts(state, [plan]), part, equalShare(state, idle, nowMs), nowMs);
  if (begun.type === "denied") return { type: "denied", reason: begun.outcome.reason };
  return { type: "started", state: begun.state, part, allocation: begun.allocation };
}

export function isLeading({ parts }: JobState): boolean {
  return parts[LEAD_PART]!.state === "running";
}

/** Reports whether nothing new may begin. */
function isEnding(state: JobState): boolean {
  return !isLeading(state) || state.stop !== undefined;
}

export function listMembers({ parts }: JobState): readonly JobPart[] {
  return parts.slice(LEAD_PART + 1);
}

/** Counts the running agents. */
export function membersAtWork(state: JobState): number {
  return state.counts.running - (isLeading(state) ? 1 : 0);
}

const REASON_BYTES = 256;

export function findMember(part: JobPart): Member {
  const { name, agent, session, task, state, outcome, report, spent } = part;
  const reason = getReason(part);
  return {
    id: name,
    agent,
    session,
    // Only the lead has none.
    task: task!,
    status: state === "done" ? getOutcomeCode(outcome) : "running",
    ...(reason === undefined ? {} : { reason: truncateForPreview(reason, REASON_BYTES) }),
    ...(report?.position === undefined
      ? {}
      : { lastAnswer: { branch: report.branch, position: report.position } }),
    ...(state === "done" ? { spent: { turns: spent.turns, costUsd: toUsd(spent.nanoUsd) } } : {}),
  };
}

function getReason({ outcome, lost }: JobPart): string | undefined {
  if (lost !== undefined) return `it ended without a result: ${lost.reason}`;
  if (outcome?.type === "failed") return `${outcome.fault}: ${outcome.message}`;
  return outcome !== undefined && "reason" in outcome ? outcome.reason : undefined;
}
