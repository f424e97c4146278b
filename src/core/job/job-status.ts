import { truncateForPreview } from "../../platform/text/preview.ts";
import { toUsd } from "../budget/amounts.ts";
import { budgetIn, budgetLine } from "../budget/budget-shown.ts";
import { dollars } from "../budget/limits.ts";
import type { Cost } from "../budget/usage.ts";
import { outcomeWord } from "../machine/outcome-word.ts";
import type { Status, StatusWord } from "../machine/status.ts";
import type { RefusedMessages, Waiting } from "../machine/waiting-messages.ts";
import { type JobMode, type JobPart, type JobState, NO_SPENDING, usedByJob } from "./job.ts";

/** Where one part stands. */
export type PartStatus = Pick<JobPart, "name" | "agent" | "session" | "state"> & {
  readonly status: StatusWord | "waiting";
  readonly turns: number;
  readonly costUsd: Cost;
};

/** What a person wants to know of a job: what they want to know of any run, and its parts. */
export type JobStatus = Status & {
  readonly job: {
    readonly mode: JobMode;
    readonly parts: readonly PartStatus[];
    /** Rounds that an autonomous agent has begun. */
    readonly rounds?: number;
    /** When it wakes by itself. */
    readonly sleepsUntilMs?: number;
  };
};

/** Of an autonomous agent. */
export type Rounds = {
  readonly rounds: number;
  readonly sleepsUntilMs?: number;
  /** Words that wait for their round, and those for which there was no room. */
  readonly wakes?: { readonly waiting: Waiting; readonly refused?: RefusedMessages };
};

/** Of the names of all agents, in bytes: a search attribute is short. */
const AGENTS_BYTES = 117;

export function jobStatus(state: JobState, nowMs: number, rounds?: Rounds): JobStatus {
  const { wakes, ...shown } = rounds ?? {};
  const { turns, nanoUsd } = usedByJob(state);
  return {
    session: state.job,
    status: statusWord(state, rounds),
    doing: doing(state),
    agent: truncateForPreview([...new Set(state.parts.map(({ agent }) => agent))].join(", "), AGENTS_BYTES),
    model: undefined,
    definitionHash: undefined,
    movesTo: undefined,
    goal: state.goal,
    loopId: undefined,
    turns,
    costUsd: toUsd(nanoUsd),
    budget: state.outcome === undefined ? budgetIn(state.account, NO_SPENDING, null, nowMs) : undefined,
    children: undefined,
    contextTokens: 0,
    queued: { steering: 0, followUps: wakes?.waiting.messages ?? 0, bytes: wakes?.waiting.bytes ?? 0 },
    ...(wakes?.refused === undefined ? {} : { refusedMessages: wakes.refused }),
    approvals: [],
    running: [],
    lastText: undefined,
    outcome: state.outcome,
    job: { mode: state.mode, parts: state.parts.map(partStatus), ...shown },
  };
}

function partStatus({ name, agent, session, state, outcome, used }: JobPart): PartStatus {
  const status = state === "done" ? outcomeWord(outcome) : state;
  return { name, agent, session, state, status, turns: used.turns, costUsd: toUsd(used.nanoUsd) };
}

function statusWord(state: JobState, rounds: Rounds | undefined): StatusWord {
  if (state.outcome !== undefined) return outcomeWord(state.outcome);
  if (state.stop !== undefined) return "stopping";
  return rounds?.sleepsUntilMs === undefined ? "running" : "waiting";
}

function doing({ outcome, doing, parts }: JobState): string {
  if (outcome !== undefined) return "nothing: the job has ended";
  const running = parts.filter(({ state }) => state === "running").map(({ name }) => name);
  return running.length === 0 ? doing || "deciding what comes next" : `at work: ${running.join(", ")}`;
}

/** Rows of parts that are shown. */
const MOST_ROWS = 20;
const ROW_BYTES = 350;

/** The job as an operator reads it in the Temporal UI: Markdown, under 10 KiB (the server's bound is 20,000 bytes). */
export function jobDashboard(state: JobState, nowMs: number, rounds?: Rounds): string {
  const { status, doing: now, goal, turns, costUsd, budget, job } = jobStatus(state, nowMs, rounds);
  const rows = [
    ["Status", `**${status}** · ${now}`],
    ["Mode", state.mode],
    ["Goal", goal || "none yet"],
    ...(rounds === undefined ? [] : [["Rounds", `${rounds.rounds}`]]),
    ["Turns", `${turns}`],
    ["Cost", dollars(costUsd)],
    ...(budget === undefined ? [] : [["Budget", budgetLine(budget) || "without limit"]]),
  ];
  const over = job.parts.length - MOST_ROWS;
  const parts = job.parts.slice(0, MOST_ROWS).map((part) => {
    return `| ${cell(part.name)} | ${cell(part.agent)} | ${part.status} | ${part.turns} | ${dollars(part.costUsd)} |`;
  });
  return [
    ...rows.map(([name, value]) => `- **${name}**: ${oneLine(value ?? "")}`),
    "",
    "| part | agent | status | turns | cost |",
    "| --- | --- | --- | --- | --- |",
    ...parts,
    ...(over > 0 ? ["", `and ${over} more`] : []),
  ].join("\n");
}

function oneLine(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), ROW_BYTES);
}

/** Of a name in a table. */
const CELL_BYTES = 64;

function cell(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), CELL_BYTES).replaceAll("|", "\\|");
}
