import type { Delegation, Limits } from "../../schema/definition.ts";
import type { EvaluationLimits, EvaluationPlan } from "../../schema/evaluation.ts";
import type { Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import type { Amounts } from "../budget/amounts.ts";
import type { PersonMessage } from "../state.ts";
import type { Cost } from "../usage.ts";
import type { BranchOutcome, BranchStatus } from "./branch-outcome.ts";
import type { Decision } from "./decision.ts";
import type { LoopPart } from "./part.ts";

// What crosses the history of an evaluation: references, numbers and verdicts; no text but the winner's, once.

type Numbered = { readonly number: number; readonly generation: number };

export type OpenEvaluation = Numbered &
  EvaluationPlan & {
    /** Absent: every branch goes on with what is there (PAR-02). */
    readonly prompt?: PersonMessage;
    /** Of single branches, in place of that; `null`: what all are asked. */
    readonly prompts?: readonly (PersonMessage | null)[];
    /** Where all branches begin; the session's head when absent. */
    readonly at?: LoopPlace;
  };

/** Behind so many entries of a branch; at its end when that is not said. */
export type LoopPlace = { readonly branch: string; readonly position?: number };

/** A configuration, and the loop that is reserved for it. */
export type OpenedAgent = {
  readonly definitionHash: string;
  readonly agentName: string;
  readonly model: string;
  readonly loopId: string;
  readonly number: number;
  readonly limits: Limits;
  readonly delegation?: Delegation;
  /** The stored text of its own prompt. */
  readonly prompt?: string;
};

export type EvaluationOpenedDigest = Pick<LoopPart, "evaluation" | "at" | "parentLoopId"> & {
  readonly branches: readonly OpenedAgent[];
  readonly judge?: OpenedAgent;
  /** The stored text of the prompt. */
  readonly prompt?: string;
  readonly limits?: EvaluationLimits;
};

/** How a run of an evaluation ended, as its workflow was told. Of a loop that has its end, the record says more. */
export type BranchEnd = { readonly loopId: string; readonly status: BranchStatus };

/** What both of the following steps look at. */
type Looking = Numbered &
  Pick<LoopPart, "evaluation" | "at"> & {
    readonly prompt?: string;
    /** In the order of the configurations. */
    readonly ends: readonly BranchEnd[];
  };

/** Makes what a judge is asked. */
export type WeighEvaluation = Looking & {
  readonly judgeHash: string;
  /** Indices of branches whose runs are gone without a report. */
  readonly lost: readonly number[];
};

export type WeighedDigest = {
  /** The stored text of the judge's prompt; absent where there is nothing to compare. */
  readonly question?: string;
  /** What the lost ones have used, as far as the record shows it; in their order. */
  readonly used: readonly Amounts[];
};

/** Chooses, and closes the group's record. */
export type DecideEvaluation = Looking & {
  readonly strategy: { readonly type: EvaluationPlan["strategy"]["type"]; readonly name?: string };
  readonly branches: readonly Pick<OpenedAgent, "agentName" | "model">[];
  readonly judge?: BranchEnd;
  /** Why nobody is asked any more. */
  readonly stopped?: string;
};

/** A branch when it is over (PAR-03), with what it has cost. */
export type EvaluatedBranch = BranchOutcome & {
  readonly agentName: string;
  readonly model: string;
  readonly turns: number;
  readonly costUsd: Cost;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

export type DecidedDigest = {
  readonly decision: Decision;
  readonly branches: readonly EvaluatedBranch[];
  /** Of the judge, or of what a registered strategy says that it has used. */
  readonly evaluationUsage: Usage;
  readonly evaluationCostUsd: Cost;
  /** How the chosen branch's loop ended. */
  readonly outcome: Outcome;
  /** The chosen branch's last answer, as a run's result has it. */
  readonly text?: string;
  readonly position?: number;
  readonly json?: "whole" | "cut";
};
