import type { Cost } from "../core/budget/usage.ts";
import type { Decision } from "../core/evaluation/decision.ts";
import type { EvaluatedBranch } from "../core/evaluation/evaluation-digest.ts";
import type { EvaluationPlan } from "../schema/evaluation.ts";
import type { Usage } from "../schema/message.ts";
import type { MessageInput } from "./messages.ts";
import type { RunSettings } from "./run-input.ts";
import type { RunResult } from "./run-result.ts";

/** How an evaluation is started: its workflow's id is the session's. */
export type EvaluationRequest = EvaluationPlan & {
  /** Absent: every branch goes on with the session's conversation as it is. */
  readonly prompt?: MessageInput;
  /** Of single branches, in place of that; `null`: what all are asked. */
  readonly prompts?: readonly (MessageInput | null)[];
  /** Where all branches begin; the session's head when absent. */
  readonly at?: { readonly branch: string; readonly position?: number };
  readonly settings?: Partial<RunSettings>;
};

/** What branches come to that are all kept: nobody's answer is the session's. */
export type ExplorationResult = RunResult & {
  readonly decision: Decision;
  /** In the order of their configurations. */
  readonly branches: readonly EvaluatedBranch[];
  readonly usage: Usage;
  readonly costUsd: Cost;
};

/** What an evaluation gives back: the chosen branch's result, as a run of the session would have it, and the others. */
export type EvaluationResult = RunResult & {
  readonly decision: Decision;
  readonly selected: EvaluatedBranch;
  /** All others, in the order of their configurations (PAR-01). */
  readonly losers: readonly EvaluatedBranch[];
  /** Of all branches and of the choice. The cost is `null` when the price of any of them is unknown. */
  readonly usage: Usage;
  readonly evaluationUsage: Usage;
  readonly costUsd: Cost;
};
