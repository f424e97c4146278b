import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Limits } from "../../schema/definition.ts";
import type { Outcome } from "../../schema/record.ts";
import { type Account, left, openAccount, settle } from "../budget/account.ts";
import { type Allowance, type Amounts, allowanceOf, NOTHING, toUsd } from "../budget/amounts.ts";
import type { Spent } from "../budget/limits.ts";
import { reserve } from "../budget/reserve.ts";
import type { Cost } from "../budget/usage.ts";
import { type OutcomeWord, outcomeWord } from "../machine/outcome-word.ts";
import type { PartEnd } from "../machine/task.ts";

// A lead and the agents that it has handed tasks to, seen from above. Words stay in the sessions of the agents.
//
// Invariants
//   T1. An agent begins only with a share that was set aside for it, and its share is settled once, when it is over.
//   T2. An agent that was begun stays in the table, with what became of it.

/** An agent that tasks can be handed to. */
export type NamedAgent = {
  readonly name: string;
  readonly description: string;
  readonly definitionHash: string;
};

/** One task that was handed out, and the agent that works on it. */
export type Member = {
  /** What the lead calls it: `{name}-{n}`. */
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  /** A few words of the task. */
  readonly task: string;
  readonly status: "running" | OutcomeWord;
  /** Why it is over, where it was not because it has answered. */
  readonly reason?: string;
  /** Where its last words stand; absent while it is at work, and where it has said none. */
  readonly words?: { readonly branch: string; readonly position: number };
  /** With all below it, once it is over. */
  readonly spent?: { readonly turns: number; readonly costUsd: Cost };
};

export type Team = {
  readonly job: string;
  /** A few words of the task, at most 256 bytes. */
  readonly goal: string;
  readonly agents: readonly NamedAgent[];
  readonly maxAgents: number;
  readonly startedAtMs: number;
  readonly maxDurationMs: number | null;
  readonly account: Account;
  readonly members: readonly Member[];
  readonly lead: Pick<Member, "session" | "status" | "spent">;
  readonly stop?: { readonly reason: string };
  readonly outcome?: Outcome;
};

export type TeamOpening = Pick<Team, "job" | "goal" | "agents" | "maxAgents"> & {
  readonly limits: Limits;
  readonly nowMs: number;
};

function leadSession(job: string): string {
  return `${job}.lead`;
}

/** The job that a lead works for, by the lead's session. */
export function jobOfLead(session: string): string | undefined {
  return session.endsWith(".lead") ? session.slice(0, -".lead".length) : undefined;
}

/** How deep agents go below themselves is for their own definitions to say. */
const DEPTH = 100;
const LEAD = "lead";

/** Opens the account, and sets aside for the lead what each named agent could have too. */
export function openTeam(opening: TeamOpening): { readonly team: Team; readonly given: Allowance } {
  const { job, goal, agents, maxAgents, limits, nowMs } = opening;
  const own = allowanceOf(limits, { maxDepth: DEPTH, maxChildren: null }, nowMs);
  const asked = { id: LEAD, own: fraction(own, agents.length + 1) };
  const { account, reservations } = reserve(openAccount(own), NO_SPENDING, [asked], nowMs, 0);
  const [first] = reservations;
  const given = first?.type === "reserved" ? first.given : { ...own, turns: 0 };
  const lead = { session: leadSession(job), status: "running" as const };
  const { maxDurationMs } = limits;
  const opened = { job, goal, agents, maxAgents, startedAtMs: nowMs, maxDurationMs, account };
  return { team: { ...opened, members: [], lead }, given };
}

export type Begun =
  | { readonly type: "begun"; readonly team: Team; readonly member: Member; readonly given: Allowance }
  /** For the model that wanted it. */
  | { readonly type: "refused"; readonly reason: string };

const TASK_BYTES = 160;

/** Takes an agent into the table, with a share of what is left for those that could still be at work beside it. */
export function delegate(
  team: Team,
  { agent, task }: { readonly agent: string; readonly task: string },
  nowMs: number,
): Begun {
  const { account, members, agents, maxAgents, job } = team;
  const named = agents.find(({ name }) => name === agent);
  if (named === undefined) {
    const known = agents.map(({ name }) => name).join(", ");
    return { type: "refused", reason: `There is no agent "${agent}"; there are: ${known}.` };
  }
  if (isOver(team)) return { type: "refused", reason: "The job is ending: nothing new is begun." };
  if (members.length >= maxAgents) {
    return {
      type: "refused",
      reason: `Not started: ${maxAgents} tasks were handed out, and no more may be.`,
    };
  }
  const idle = Math.max(1, agents.length - atWork(team).length);
  const id = `${agent}-${members.filter((member) => member.agent === agent).length + 1}`;
  const asked = { id, own: fraction({ ...account.own, ...left(account, NO_SPENDING, nowMs) }, idle) };
  const shares = reserve(account, NO_SPENDING, [asked], nowMs, 0);
  const [share] = shares.reservations;
  if (share?.type !== "reserved") return { type: "refused", reason: share?.reason ?? "" };
  const member: Member = {
    id,
    agent,
    session: `${job}.${id}`,
    task: truncateForPreview(task, TASK_BYTES),
    status: "running",
  };
  const begun = { ...team, account: shares.account, members: [...members, member] };
  return { type: "begun", team: begun, member, given: share.given };
}

const REASON_BYTES = 256;

/** An agent is over; a second word of it changes nothing. */
export function memberOver(team: Team, id: string, end: PartEnd): Team {
  const member = team.members.find((one) => one.id === id);
  if (member?.status !== "running") return team;
  const { report } = end;
  const used = report?.used ?? NOTHING;
  const reason = end.type === "lost" ? `it did not come to an end: ${end.how}` : reasonOf(end.report.outcome);
  const over: Member = {
    ...member,
    status: end.type === "lost" ? "failed" : outcomeWord(end.report.outcome),
    ...(reason === undefined ? {} : { reason: truncateForPreview(reason, REASON_BYTES) }),
    ...(report?.position === undefined
      ? {}
      : { words: { branch: report.branch, position: report.position } }),
    spent: spentIn(used),
  };
  return {
    ...team,
    account: settle(team.account, id, used),
    members: team.members.map((one) => (one.id === id ? over : one)),
  };
}

export function leadOver(team: Team, end: PartEnd): Team {
  const status = end.type === "lost" ? "failed" : outcomeWord(end.report.outcome);
  const used = end.report?.used ?? NOTHING;
  return {
    ...team,
    account: settle(team.account, LEAD, used),
    lead: { ...team.lead, status, spent: spentIn(used) },
  };
}

function spentIn({ turns, nanoUsd }: Amounts): NonNullable<Member["spent"]> {
  return { turns, costUsd: toUsd(nanoUsd) };
}

/** Nothing may begin any more. */
function isOver({ lead, stop }: Team): boolean {
  return lead.status !== "running" || stop !== undefined;
}

export function atWork({ members }: Team): readonly Member[] {
  return members.filter(({ status }) => status === "running");
}

function reasonOf(outcome: Outcome): string | undefined {
  if (outcome.type === "failed") return `${outcome.fault}: ${outcome.message}`;
  return "reason" in outcome ? outcome.reason : undefined;
}

/** A supervisor spends nothing itself. */
export const NO_SPENDING: Spent = { turns: 0, tokens: 0, durationMs: 0, costUsd: 0 };

/** One of so many equal parts, at least one of each. */
function fraction(whole: Allowance, parties: number): Allowance {
  const part = (amount: number | null) =>
    amount === null ? null : Math.max(1, Math.floor(amount / parties));
  return { ...whole, turns: part(whole.turns), tokens: part(whole.tokens), nanoUsd: part(whole.nanoUsd) };
}
