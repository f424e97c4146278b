import type { Decision } from "../core/evaluation/decision.ts";
import type { EvaluatedBranch } from "../core/evaluation/evaluation-digest.ts";
import type { RunTotals } from "../core/machine/state/run-totals.ts";
import type { EvaluationPlan } from "../schema/evaluation.ts";
import type { Usage } from "../schema/message.ts";
import type { MessageInput } from "./messages.ts";
import type { RunSettings } from "./run-input.ts";
import type { RunResult } from "./run-result.ts";

/** The input of an evaluation. Its workflow id is the session's id. */
export type EvaluationRequest = EvaluationPlan & {
  /** If absent, every branch continues the session's conversation as it is. */
  readonly prompt?: MessageInput;
  /** Prompts of single branches, which replace the common prompt. `null`: the branch gets the common prompt. */
  readonly prompts?: readonly (MessageInput | null)[];
  /** The position at which all branches begin; by default the session's head. */
  readonly at?: {
    readonly branch: string;
    /** After how many entries of the branch; at its end by default. */
    readonly position?: number;
  };
  /** How the runs of the branches behave. */
  readonly settings?: Partial<RunSettings>;
};

/** The result of branches that all stay: no branch's answer becomes the session's. What it has used is that of all branches. */
export type ExplorationResult = RunResult &
  RunTotals & {
    readonly decision: Decision;
    /** In the order of their configurations. */
    readonly branches: readonly EvaluatedBranch[];
  };

/**
 * The result of an evaluation: the chosen branch's result, as a run of the session returns it, and the other branches. What
 * it has used is that of all branches and of the choice.
 */
export type EvaluationResult = RunResult &
  RunTotals & {
    readonly decision: Decision;
    /** The branch that was chosen. */
    readonly selected: EvaluatedBranch;
    /** All other branches, in the order of their configurations (PAR-01). */
    readonly otherBranches: readonly EvaluatedBranch[];
    /** Of the choice alone. */
    readonly evaluationUsage: Usage;
  };
