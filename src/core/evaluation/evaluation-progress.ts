import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { toUsd } from "../budget/amounts.ts";
import type { Cost } from "../budget/usage.ts";
import type { JobPart, JobState } from "../job/job.ts";
import type { ModeStatus } from "../job/job-status.ts";
import type { QueueSize } from "../machine/queue-size.ts";
import type { RejectedMessages } from "../machine/state/inbound-message.ts";
import type { RunStatus } from "../machine/status.ts";
import { type BranchStatus, toBranchStatus } from "./branch-outcome.ts";
import type { Decision } from "./decision.ts";
import { findJudge, getLostStatus, listBranches } from "./parts.ts";

// The progress of an evaluation, in addition to the status of any job.

type EvaluationPhase = "opening" | "comparing" | "judging" | "deciding" | "ended";

export type EvaluationProgress = {
  readonly strategy: string;
  /** Present when the status must contain no text, neither of a prompt nor of a judge. */
  readonly redactContent?: true;
  readonly phase: EvaluationPhase;
  readonly decision?: Decision;
  /** Messages for the session's inbox. */
  readonly waitingMessages: QueueSize;
  /** Messages for which there was no room; absent for none. */
  readonly rejected?: RejectedMessages;
};

/** One branch, or the judge. */
export type PartProgress = {
  /** The name of the agent. */
  readonly agent: string;
  /** The id of the model. */
  readonly model: string;
  readonly loopId: string;
  /** What it is doing, or how it ended. */
  readonly status: "starting" | "running" | BranchStatus["type"];
  /** The id of the workflow that runs it, to which requests about this branch alone go. */
  readonly workflow?: string;
  /** Known when it has ended. */
  readonly turns: number;
  /** The tokens of its requests so far, input and output together. */
  readonly tokens: number;
  readonly costUsd: Cost;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

/** What an evaluation adds to the status of a job. */
export type EvaluationDetails = {
  /** The name of the strategy that chooses a branch. */
  readonly strategy: string;
  /** The branches, in the order of their configurations. */
  readonly branches: readonly PartProgress[];
  /** The judge, when the strategy has one. */
  readonly judge?: PartProgress;
  /** The choice, when it is made. */
  readonly decision?: Decision;
};

export function evaluationMode(
  state: JobState,
  { strategy, phase, redactContent, decision, waitingMessages, rejected }: EvaluationProgress,
): ModeStatus & EvaluationDetails {
  const branches = listBranches(state);
  const judge = findJudge(state);
  const chosen = decision === undefined ? undefined : branches[decision.selected];
  return {
    statusText: formatStatusText(phase, branches, redactContent === true ? undefined : decision),
    agent: chosen?.agent,
    model: chosen?.model,
    loopId: chosen?.loopId,
    queued: { steering: waitingMessages.messages, followUps: 0, bytes: waitingMessages.bytes },
    ...omitUndefined({ rejectedMessages: rejected }),
    strategy,
    branches: branches.map(partProgress),
    ...(judge === undefined ? {} : { judge: partProgress(judge) }),
    ...omitUndefined({ decision }),
  };
}

function partProgress(part: JobPart): PartProgress {
  const { agent, model, loopId, spent, workflow, startedAtMs, endedAtMs } = part;
  return {
    agent,
    // Each part of an evaluation has both.
    model: model!,
    loopId: loopId!,
    status: getStatusCode(part),
    ...omitUndefined({ workflow }),
    turns: spent.turns,
    tokens: spent.tokens,
    costUsd: toUsd(spent.nanoUsd),
    ...omitUndefined({ startedAtMs, endedAtMs }),
  };
}

function getStatusCode({ state, outcome, lost }: JobPart): PartProgress["status"] {
  if (outcome === undefined) return state === "running" ? "running" : "starting";
  return (lost === undefined ? toBranchStatus(outcome) : getLostStatus(lost)).type;
}

function formatStatusText(
  phase: EvaluationPhase,
  branches: readonly JobPart[],
  decision: Decision | undefined,
): RunStatus["statusText"] {
  switch (phase) {
    case "opening":
      return "opening the evaluation";
    case "comparing": {
      const endedCount = branches.filter(({ state }) => state === "done").length;
      return `running ${branches.length} branches, ${endedCount} of them ended`;
    }
    case "judging":
      return "calling the judge";
    case "deciding":
      return "choosing a branch";
    case "ended":
      return decision?.reason ?? "nothing: the run has ended";
  }
}
