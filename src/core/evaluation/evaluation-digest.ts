import type { Delegation } from "../../schema/definition.ts";
import type { EvaluationLimits, EvaluationPlan } from "../../schema/evaluation.ts";
import type { Limits } from "../../schema/limits.ts";
import type { Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import type { Amounts } from "../budget/account-state.ts";
import type { Cost } from "../budget/usage.ts";
import type { InboundMessage } from "../machine/state/inbound-message.ts";
import type { BranchOutcome, BranchStatus } from "./branch-outcome.ts";
import type { Decision } from "./decision.ts";
import type { LoopPart } from "./loop-part.ts";

// What crosses the history of an evaluation: references, numbers and verdicts; no text except the winner's, once.

type Numbered = { readonly number: number; readonly generation: number };

export type OpenEvaluationCommand = Numbered &
  EvaluationPlan & {
    /** Absent: every branch continues the existing conversation (PAR-02). */
    readonly prompt?: InboundMessage;
    /** Replaces `prompt` for single branches; `null`: the common prompt. */
    readonly prompts?: readonly (InboundMessage | null)[];
    /** Where all branches begin; the session's head when absent. */
    readonly at?: BranchPosition;
  };

/** After this many entries of a branch; at its end when the position is absent. */
export type BranchPosition = { readonly branch: string; readonly position?: number };

/** A configuration, and the loop that is reserved for it. */
export type OpenedAgent = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  readonly loopId: string;
  readonly number: number;
  readonly limits: Limits;
  readonly delegation?: Delegation;
  /** The stored text of its own prompt, or its stored parts. */
  readonly prompt?: string;
};

export type EvaluationOpenedDigest = Pick<LoopPart, "evaluation" | "at" | "parentLoopId"> & {
  readonly branches: readonly OpenedAgent[];
  readonly judge?: OpenedAgent;
  /** The stored text of the prompt, or its stored parts. */
  readonly prompt?: string;
  readonly limits?: EvaluationLimits;
};

/** How a run of an evaluation ended, as its workflow knows it. The record has more about a loop that has ended. */
export type BranchEnd = { readonly loopId: string; readonly status: BranchStatus };

/** The common input of the following two steps. */
type EvaluationEnds = Numbered &
  Pick<LoopPart, "evaluation" | "at"> & {
    readonly prompt?: string;
    /** In the order of the configurations. */
    readonly ends: readonly BranchEnd[];
  };

/** Prepares what a judge is asked. */
export type PrepareJudgeCommand = EvaluationEnds & {
  readonly judgeHash: string;
  /** Indices of branches whose runs ended without a report. */
  readonly lostBranches: readonly number[];
};

export type JudgeDigest = {
  /** The stored text of the judge's prompt; absent when there is nothing to compare. */
  readonly question?: string;
  /** What the lost branches have used, as far as the record shows it; in their order. */
  readonly lostUsage: readonly Amounts[];
};

/** Selects a branch, and closes the group's record. */
export type SelectBranchCommand = EvaluationEnds & {
  readonly strategy: { readonly type: EvaluationPlan["strategy"]["type"]; readonly name?: string };
  readonly branches: readonly Pick<OpenedAgent, "agentName" | "model">[];
  readonly judge?: BranchEnd;
  /** Why no judge or strategy is called any more. */
  readonly stopReason?: string;
};

/** A branch that has ended (PAR-03), with its cost. */
export type EvaluatedBranch = BranchOutcome & {
  /** The name of the branch's agent. */
  readonly agentName: string;
  /** The id of the branch's model. */
  readonly model: string;
  /** The number of the branch's turns. */
  readonly turns: number;
  readonly costUsd: Cost;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

export type SelectedBranchDigest = {
  readonly decision: Decision;
  readonly branches: readonly EvaluatedBranch[];
  /** The usage of the judge, or the usage that a registered strategy reports. */
  readonly evaluationUsage: Usage;
  readonly evaluationCostUsd: Cost;
  /** How the chosen branch's loop ended. */
  readonly outcome: Outcome;
  /** The chosen branch's last answer, as a run's result has it. */
  readonly text?: string;
  readonly position?: number;
  readonly json?: "complete" | "truncated";
};
