import type { Cost } from "../core/budget/usage.ts";
import type { BranchStatus } from "../core/evaluation/branch-outcome.ts";
import { type EvaluationStrategy, PLAIN_STRATEGIES, type PlainStrategy } from "../schema/evaluation.ts";
import type { AgentMessage, Usage } from "../schema/message.ts";

/** A branch as a strategy is shown it. */
export type EvaluatedResponse = {
  /** Of its configuration, from 0: what the strategy names. */
  readonly index: number;
  readonly agentName: string;
  readonly model: string;
  readonly status: BranchStatus;
  readonly usage: Usage;
  readonly turns: number;
  /** `null` when the price of any of its models is unknown: not the same as free. Order costs with `compareCosts`. */
  readonly costUsd: Cost;
  /** The text of its last answer; empty where it has none. */
  readonly text: string;
  /** All that its loop has added, prompts first. Copies. */
  readonly messages: readonly AgentMessage[];
};

export type EvaluationStrategyRequest = {
  /** What was asked of all branches; where nothing was, the last words of the context (PAR-09). */
  readonly query: string;
  /** What all branches began with. Copies. */
  readonly context: readonly AgentMessage[];
  readonly responses: readonly EvaluatedResponse[];
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** The index of a branch that answered; with what choosing it has used, where that counts (PAR-04). */
export type EvaluationChoice =
  | number
  | { readonly selected: number; readonly usage?: Usage; readonly costUsd?: Cost };

/** How an application chooses one branch of an evaluation. One that throws leaves the choice to the fallback. */
export type EvaluationStrategyFunction = (
  asked: EvaluationStrategyRequest,
) => EvaluationChoice | Promise<EvaluationChoice>;

/** The strategies that need no registration. */
export const BUILT_IN_EVALUATIONS: readonly string[] = [
  ...PLAIN_STRATEGIES,
  ...Object.keys({ judge: true, keep: true } satisfies Record<JudgeOrKeep, true>),
];
type JudgeOrKeep = Exclude<EvaluationStrategy["type"], PlainStrategy | "custom">;
