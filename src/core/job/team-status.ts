import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import type { Cost } from "../budget/usage.ts";
import { getOutcomeCode } from "../machine/outcome-code.ts";
import type { ChildRow, OutcomeCode } from "../machine/state/ended-children.ts";
import { getSpentByJob, type JobPart, type JobState } from "./job.ts";
import { buildPartResult, type PartResult } from "./job-result.ts";
import type { ModeStatus } from "./job-status.ts";
import {
  findMember,
  isLeading,
  LEAD_PART,
  listMembers,
  type Member,
  membersAtWork,
  type NamedAgent,
  type Team,
} from "./team.ts";

// The status of a team, for users and for its lead.

/** The maximum number of rows for users. */
const MAX_ROWS = 10;
/** The maximum number of members in one answer to the lead. */
const MAX_NAMED = 100;

/** The lead's view of its team. */
export type TeamView = {
  readonly agents: readonly Pick<NamedAgent, "name" | "description">[];
  /** The requested members; without a request all of them, the newest at most. */
  readonly members: readonly Member[];
  /** Requested, but not in the table. */
  readonly unknown: readonly string[];
  readonly isEnded: boolean;
};

export function buildTeamView(state: JobState, { agents }: Team, ids?: readonly string[]): TeamView {
  const asked = ids === undefined || ids.length === 0 ? undefined : new Set(ids);
  const known = listMembers(state);
  const members = known.filter(({ name }) => asked?.has(name) ?? true).slice(-MAX_NAMED);
  return {
    agents: agents.map(({ name, description }) => ({ name, description })),
    members: members.map(findMember),
    unknown: (ids ?? []).filter((id) => !known.some(({ name }) => name === id)),
    isEnded: !isLeading(state),
  };
}

/** Builds the status of the agents in the form in which an agent's own run lists its sub-agents. */
export function buildTeamStatus(state: JobState): ModeStatus {
  const { parts, counts } = state;
  const members = listMembers(state);
  const atWork = members.filter((part) => part.state === "running");
  const over = members.filter((part) => part.state !== "running").reverse();
  return {
    statusText: formatStatusText(state),
    agent: undefined,
    children: {
      running: counts.running,
      ended: parts.length - counts.running,
      rows: [parts[LEAD_PART]!, ...atWork, ...over].slice(0, MAX_ROWS).map(toChildRow),
    },
  };
}

/** A task that the lead has delegated. */
export type TeamMember = {
  /** The lead's name for it: `{name}-{n}`. */
  readonly id: string;
  /** The name of its agent. */
  readonly agent: string;
  /** The session with its conversation. */
  readonly session: string;
  /** Whether it runs, or how it ended. */
  readonly status: "running" | OutcomeCode;
  /** Why it ended, when it did not answer. */
  readonly reason?: string;
};

/** The result of a job with a lead. Conversations stay in the sessions. */
export type TeamResult = {
  /** The id of the job. */
  readonly job: string;
  readonly mode: "supervisor";
  readonly outcome: Outcome;
  /** The lead's last text, at most 32 KiB. */
  readonly text?: string;
  /** The delegated tasks and their results: the newest hundred of `count`. */
  readonly agents: readonly TeamMember[];
  /** The number of delegated tasks. */
  readonly count: number;
  /** The lead and these agents, as other jobs list their parts. */
  readonly parts: readonly PartResult[];
  /** Of all agents and everything below them. */
  readonly turns: number;
  /** Of all agents and everything below them, input and output together. */
  readonly tokens: number;
  readonly costUsd: Cost;
};

export function buildTeamResult(state: JobState, outcome: Outcome, text: string | undefined): TeamResult {
  const { turns, tokens, nanoUsd } = getSpentByJob(state);
  const all = listMembers(state);
  const members = all.slice(-MAX_NAMED);
  return {
    job: state.job,
    mode: "supervisor",
    outcome,
    ...omitUndefined({ text }),
    agents: members.map(findMember).map(({ id, agent, session, status, reason }) => ({
      id,
      agent,
      session,
      status,
      ...omitUndefined({ reason }),
    })),
    count: all.length,
    parts: [state.parts[LEAD_PART]!, ...members].map(buildPartResult),
    turns,
    tokens,
    costUsd: toUsd(nanoUsd),
  };
}

function formatStatusText(state: JobState): string {
  const running = membersAtWork(state);
  if (state.outcome !== undefined) return "nothing: the job has ended";
  if (!isLeading(state)) return `ending ${running} agents`;
  return running === 0 ? "the lead is running" : `the lead and ${running} agents are running`;
}

function toChildRow({ session, agent, task = "", state, outcome }: JobPart): ChildRow {
  return { session, agent, task, status: state === "done" ? getOutcomeCode(outcome) : "running" };
}
