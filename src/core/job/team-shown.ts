import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Outcome } from "../../schema/record.ts";
import { toUsd } from "../budget/amounts.ts";
import { type Budget, budgetIn, budgetLine } from "../budget/budget-shown.ts";
import { dollars } from "../budget/limits.ts";
import type { Cost } from "../budget/usage.ts";
import type { ChildRow } from "../machine/children-shown.ts";
import { childLine, inNumbers } from "../machine/dashboard.ts";
import { outcomeWord } from "../machine/outcome-word.ts";
import type { Status } from "../machine/status.ts";
import { atWork, type Member, type NamedAgent, NO_SPENDING, type Team } from "./team.ts";

// What is shown of a team: to people, and to its lead.

/** Rows that people are shown. */
const MAX_ROWS = 10;
/** Members that one answer to the lead names. */
const MAX_NAMED = 100;
const GOAL_BYTES = 350;

/** What the lead asks for. */
export type TeamView = {
  readonly agents: readonly Pick<NamedAgent, "name" | "description">[];
  /** Those that were asked for; all unless some were, the newest of them at most. */
  readonly members: readonly Member[];
  /** Asked for, and not in the table. */
  readonly unknown: readonly string[];
  readonly isOver: boolean;
};

export function teamView(team: Team, ids?: readonly string[]): TeamView {
  const asked = ids === undefined || ids.length === 0 ? undefined : new Set(ids);
  const members = team.members.filter(({ id }) => asked?.has(id) ?? true).slice(-MAX_NAMED);
  return {
    agents: team.agents.map(({ name, description }) => ({ name, description })),
    members,
    unknown: (ids ?? []).filter((id) => !team.members.some((member) => member.id === id)),
    isOver: team.lead.status !== "running",
  };
}

/** As the agents' own runs say it. */
export function teamStatus(team: Team, nowMs: number): Status {
  const { job, goal, account, members, lead, stop, outcome } = team;
  const running = atWork(team);
  return {
    session: job,
    status: outcome === undefined ? (stop === undefined ? "running" : "stopping") : outcomeWord(outcome),
    doing: doing(team),
    agent: undefined,
    model: undefined,
    definitionHash: undefined,
    movesTo: undefined,
    goal,
    loopId: undefined,
    turns: account.settled.turns,
    costUsd: toUsd(account.settled.nanoUsd),
    budget: outcome === undefined ? budgetOf(team, nowMs) : undefined,
    children: {
      running: running.length + (lead.status === "running" ? 1 : 0),
      over: members.length - running.length + (lead.status === "running" ? 0 : 1),
      rows: [leadRow(team), ...running, ...members.filter(({ status }) => status !== "running").reverse()]
        .slice(0, MAX_ROWS)
        .map(rowOf),
    },
    contextTokens: 0,
    queued: { steering: 0, followUps: 0 },
    approvals: [],
    running: [],
    lastText: undefined,
    outcome,
  };
}

/** Markdown, under 4 KiB. */
export function teamDashboard(team: Team, nowMs: number): string {
  const status = teamStatus(team, nowMs);
  const { budget, children } = status;
  const rows = [
    ["Status", `**${status.status}** · ${status.doing}`],
    ["Goal", truncateForPreview(team.goal.replace(/\s+/g, " "), GOAL_BYTES) || "none"],
    ["Cost", `${dollars(status.costUsd)} by agents that are over`],
    ...(budget === undefined ? [] : [["Budget", budgetLine(budget) || "without limit"]]),
    ["Agents", children === undefined ? "none" : inNumbers(children)],
  ];
  return [
    ...rows.map(([name, value]) => `- **${name}**: ${value}`),
    ...(children?.rows ?? []).map((row) => `  - ${childLine(row).replace(/\s+/g, " ")}`),
  ].join("\n");
}

/** What a job comes to. The words stay in the sessions. */
export type TeamResult = {
  readonly job: string;
  readonly mode: "supervisor";
  readonly outcome: Outcome;
  /** The lead's last words, at most 32 KiB. */
  readonly text?: string;
  /** The tasks that were handed out and what became of them: the newest hundred of `count`. */
  readonly agents: readonly Pick<Member, "id" | "agent" | "session" | "status" | "reason">[];
  readonly count: number;
  /** The lead and these agents, as other jobs name their parts. */
  readonly parts: readonly {
    readonly name: string;
    readonly agent: string;
    readonly session: string;
    readonly turns: number;
    readonly costUsd: Cost;
  }[];
  /** Of all agents, with all below them. */
  readonly turns: number;
  readonly tokens: number;
  readonly costUsd: Cost;
};

export function teamResult(team: Team, outcome: Outcome, text: string | undefined): TeamResult {
  const { settled } = team.account;
  const members = team.members.slice(-MAX_NAMED);
  return {
    job: team.job,
    mode: "supervisor",
    outcome,
    ...(text === undefined ? {} : { text }),
    agents: members.map(({ id, agent, session, status, reason }) => ({
      id,
      agent,
      session,
      status,
      ...(reason === undefined ? {} : { reason }),
    })),
    count: team.members.length,
    parts: [{ id: "lead", agent: "lead", ...team.lead }, ...members].map(({ id, agent, session, spent }) => ({
      name: id,
      agent,
      session,
      turns: spent?.turns ?? 0,
      costUsd: spent === undefined ? 0 : spent.costUsd,
    })),
    turns: settled.turns,
    tokens: settled.tokens,
    costUsd: toUsd(settled.nanoUsd),
  };
}

function budgetOf({ account, startedAtMs, maxDurationMs }: Team, nowMs: number): Budget {
  const spent = { ...NO_SPENDING, durationMs: nowMs - startedAtMs };
  return budgetIn(account, spent, maxDurationMs, nowMs);
}

function doing(team: Team): string {
  const running = atWork(team);
  if (team.outcome !== undefined) return "nothing: the job has ended";
  if (team.lead.status !== "running") return `ending ${running.length} agents`;
  return running.length === 0 ? "the lead is at work" : `the lead and ${running.length} agents are at work`;
}

function leadRow({ lead }: Team): Omit<Member, "id"> {
  return { agent: "lead", session: lead.session, task: "", status: lead.status };
}

function rowOf({ session, agent, task, status }: Omit<Member, "id">): ChildRow {
  return { session, agent, task, status };
}
