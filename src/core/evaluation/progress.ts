import { truncateForPreview } from "../../platform/text/preview.ts";
import type { Outcome } from "../../schema/record.ts";
import { NOTHING, toUsd } from "../budget/amounts.ts";
import { dollars } from "../budget/limits.ts";
import { type Cost, sumCosts } from "../budget/usage.ts";
import { outcomeWord } from "../machine/outcome-word.ts";
import type { Status, StatusWord } from "../machine/status.ts";
import type { TaskReport } from "../machine/task.ts";
import type { RefusedMessages } from "../machine/waiting-messages.ts";
import { type BranchStatus, statusOf } from "./branch-outcome.ts";
import type { Decision } from "./decision.ts";
import type { EvaluationOpenedDigest, OpenedAgent, PartEnd } from "./digest.ts";

// Where an evaluation stands, as its workflow knows it: each part as it began and as it ended.

export type PartProgress = {
  readonly agent: string;
  readonly model: string;
  readonly loopId: string;
  readonly status: "starting" | "running" | BranchStatus["type"];
  /** Of the workflow that runs it: what is asked of a branch alone is asked there. */
  readonly workflow?: string;
  /** Known when it is over. */
  readonly turns: number;
  readonly tokens: number;
  readonly costUsd: Cost;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

type EvaluationPhase = "opening" | "comparing" | "judging" | "deciding" | "ended";

export type EvaluationProgress = {
  readonly session: string;
  readonly strategy: string;
  readonly goal: string;
  /** What is shown of it holds no words: neither of a prompt nor of a judge. */
  readonly words?: "none";
  readonly phase: EvaluationPhase;
  readonly branches: readonly PartProgress[];
  readonly judge?: PartProgress;
  readonly stop?: string;
  readonly decision?: Decision;
  readonly outcome?: Outcome;
  readonly waiting: number;
  readonly waitingBytes?: number;
  /** Messages for which there was no room; absent for none. */
  readonly refused?: RefusedMessages;
};

/** What a person wants to know of an evaluation: what `status` says of any run, where it has a meaning here, and more. */
export type EvaluationStatus = Pick<
  Status,
  | "session"
  | "status"
  | "doing"
  | "agent"
  | "model"
  | "goal"
  | "loopId"
  | "turns"
  | "costUsd"
  | "queued"
  | "refusedMessages"
  | "approvals"
  | "running"
  | "outcome"
> & {
  readonly strategy: string;
  readonly branches: readonly PartProgress[];
  readonly judge?: PartProgress;
  readonly decision?: Decision;
};

/** Of a reason in words, in bytes: every branch may have one. */
const REASON_BYTES = 200;

export function partStatus(outcome: Outcome): BranchStatus {
  return shortStatus(statusOf(outcome));
}

export function shortStatus(status: BranchStatus): BranchStatus {
  if (status.type === "answered") return status;
  return { ...status, reason: truncateForPreview(status.reason, REASON_BYTES) };
}

export function begunParts({ branches, judge }: EvaluationOpenedDigest): Partial<EvaluationProgress> {
  return { branches: branches.map(starting), ...(judge === undefined ? {} : { judge: starting(judge) }) };
}

function starting({ agentName: agent, model, loopId }: OpenedAgent): PartProgress {
  return { agent, model, loopId, status: "starting", turns: 0, tokens: 0, costUsd: 0 };
}

/** @param report - Absent of a run that is gone without one. */
export function endedPart(
  part: PartProgress,
  { status }: PartEnd,
  report: Pick<TaskReport, "used"> | undefined,
  endedAtMs: number,
): PartProgress {
  const { turns, tokens, nanoUsd } = report?.used ?? NOTHING;
  return { ...part, status: status.type, turns, tokens, costUsd: toUsd(nanoUsd), endedAtMs };
}

export function evaluationStatus(progress: EvaluationProgress): EvaluationStatus {
  const { session, strategy, goal, branches, judge, decision, outcome, waiting } = progress;
  const { waitingBytes: bytes = 0, refused } = progress;
  const parts = [...branches, ...(judge === undefined ? [] : [judge])];
  const chosen = decision === undefined ? undefined : branches[decision.selected];
  return {
    session,
    strategy,
    status: statusWord(progress),
    doing: doing(progress),
    agent: chosen?.agent,
    model: chosen?.model,
    goal,
    loopId: chosen?.loopId,
    turns: parts.reduce((sum, { turns }) => sum + turns, 0),
    costUsd: sumCosts(parts.map(({ costUsd }) => costUsd)),
    queued: { steering: waiting, followUps: 0, bytes },
    ...(refused === undefined ? {} : { refusedMessages: refused }),
    approvals: [],
    running: [],
    outcome,
    branches,
    ...(judge === undefined ? {} : { judge }),
    ...(decision === undefined ? {} : { decision }),
  };
}

function statusWord({ phase, stop, outcome }: EvaluationProgress): StatusWord {
  if (phase !== "ended") return stop === undefined ? "running" : "stopping";
  return outcomeWord(outcome);
}

function doing({ phase, branches, decision, words }: EvaluationProgress): string {
  switch (phase) {
    case "opening":
      return "opening the evaluation";
    case "comparing": {
      const over = branches.filter(({ endedAtMs }) => endedAtMs !== undefined).length;
      return `running ${branches.length} branches, ${over} of them over`;
    }
    case "judging":
      return "asking the judge";
    case "deciding":
      return "choosing a branch";
    case "ended":
      return (words === "none" ? undefined : decision?.reason) ?? "nothing: the run has ended";
  }
}

/** Rows of branches that are shown: the server takes 20,000 bytes. */
const ROWS = 50;
const CELL_BYTES = 60;

/** The evaluation as an operator reads it in the Temporal UI: Markdown. */
export function evaluationDashboard(progress: EvaluationProgress): string {
  const { status, doing: what, turns, costUsd, branches } = evaluationStatus(progress);
  const rows = branches.slice(0, ROWS).map((part, index) => {
    const cells = [String(index + 1), part.agent, part.model, part.status, String(part.turns)];
    return `| ${[...cells, dollars(part.costUsd)].map(cell).join(" | ")} |`;
  });
  const more = branches.length > ROWS ? [`\nand ${branches.length - ROWS} more`] : [];
  return [
    `- **Status**: **${status}** · ${oneLine(what)}`,
    `- **Strategy**: ${progress.strategy}`,
    `- **Goal**: ${oneLine(progress.goal) || "none"}`,
    `- **Turns**: ${turns}`,
    `- **Cost**: ${dollars(costUsd)}`,
    "",
    "| Branch | Agent | Model | Status | Turns | Cost |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    ...more,
  ].join("\n");
}

function cell(text: string): string {
  return truncateForPreview(oneLine(text).replaceAll("|", "/"), CELL_BYTES);
}

function oneLine(text: string): string {
  return truncateForPreview(text.replace(/\s+/g, " "), 350);
}
