import { toUsd } from "../budget/amounts.ts";
import type { JobPart, JobState } from "../job/job.ts";
import type { JobStatus, ModeStatus } from "../job/job-status.ts";
import type { Status } from "../status.ts";
import type { Cost } from "../usage.ts";
import type { RefusedMessages, Waiting } from "../waiting-messages.ts";
import { type BranchStatus, statusOf } from "./branch-outcome.ts";
import type { Decision } from "./decision.ts";
import { branchesOf, judgeOf, lostStatus } from "./parts.ts";

// Where an evaluation stands, beside what is said of any job.

type EvaluationPhase = "opening" | "comparing" | "judging" | "deciding" | "ended";

export type EvaluationProgress = {
  readonly strategy: string;
  /** What is shown of it holds no words: neither of a prompt nor of a judge. */
  readonly words?: "none";
  readonly phase: EvaluationPhase;
  readonly decision?: Decision;
  /** Messages for the session's inbox. */
  readonly waiting: Waiting;
  /** Messages for which there was no room; absent for none. */
  readonly refused?: RefusedMessages;
};

/** One branch, or the judge. */
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

/** What is said of an evaluation alone. */
type OwnStatus = {
  readonly strategy: string;
  readonly branches: readonly PartProgress[];
  readonly judge?: PartProgress;
  readonly decision?: Decision;
};

export type EvaluationStatus = JobStatus & OwnStatus;

export function evaluationMode(
  state: JobState,
  { strategy, phase, words, decision, waiting, refused }: EvaluationProgress,
): ModeStatus & OwnStatus {
  const branches = branchesOf(state);
  const judge = judgeOf(state);
  const chosen = decision === undefined ? undefined : branches[decision.selected];
  return {
    doing: doing(phase, branches, words === "none" ? undefined : decision),
    agent: chosen?.agent,
    model: chosen?.model,
    loopId: chosen?.loopId,
    queued: { steering: waiting.messages, followUps: 0, bytes: waiting.bytes },
    ...(refused === undefined ? {} : { refusedMessages: refused }),
    strategy,
    branches: branches.map(partProgress),
    ...(judge === undefined ? {} : { judge: partProgress(judge) }),
    ...(decision === undefined ? {} : { decision }),
  };
}

function partProgress(part: JobPart): PartProgress {
  const { agent, model = "", loopId = "", used, workflow, startedAtMs, endedAtMs } = part;
  return {
    agent,
    model,
    loopId,
    status: statusWord(part),
    ...(workflow === undefined ? {} : { workflow }),
    turns: used.turns,
    tokens: used.tokens,
    costUsd: toUsd(used.nanoUsd),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
  };
}

function statusWord({ state, outcome, lost }: JobPart): PartProgress["status"] {
  if (state !== "done" || outcome === undefined) return state === "running" ? "running" : "starting";
  return (lost === undefined ? statusOf(outcome) : lostStatus(lost)).type;
}

function doing(
  phase: EvaluationPhase,
  branches: readonly JobPart[],
  decision: Decision | undefined,
): Status["doing"] {
  switch (phase) {
    case "opening":
      return "opening the evaluation";
    case "comparing": {
      const over = branches.filter(({ state }) => state === "done").length;
      return `running ${branches.length} branches, ${over} of them over`;
    }
    case "judging":
      return "asking the judge";
    case "deciding":
      return "choosing a branch";
    case "ended":
      return decision?.reason ?? "nothing: the run has ended";
  }
}
