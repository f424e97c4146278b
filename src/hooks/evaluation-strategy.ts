import type { Cost } from "../core/budget/usage.ts";
import type { BranchStatus } from "../core/evaluation/branch-outcome.ts";
import { type PinnedStrategy, PlainStrategy } from "../schema/evaluation.ts";
import type { AgentMessage, Usage } from "../schema/message.ts";

/** A branch as a strategy sees it. */
export type EvaluatedResponse = {
  /** The index of its configuration, from 0, which the strategy returns. */
  readonly index: number;
  /** The name of the agent. */
  readonly agentName: string;
  /** The id of the model. */
  readonly model: string;
  /** How the branch ended. */
  readonly status: BranchStatus;
  readonly usage: Usage;
  /** The number of turns of the branch. */
  readonly turns: number;
  /**
   * `null` when the price of any of its models is unknown, which is not the same as free. Order costs with
   * `compareCosts`.
   */
  readonly costUsd: Cost;
  /** The text of its last answer; empty where it has none. */
  readonly text: string;
  /** All messages that its loop has added, prompts first. Copies. */
  readonly messages: readonly AgentMessage[];
};

/** The answers to choose from, and what they answer. */
export type EvaluationStrategyRequest = {
  /** The prompt of all branches; without a prompt, the last message of the context (PAR-09). */
  readonly query: string;
  /** The messages that all branches began with. Copies. */
  readonly context: readonly AgentMessage[];
  /** The branches, in the order of their configurations. */
  readonly responses: readonly EvaluatedResponse[];
  /** Aborts when nothing waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** The index of a branch that answered, with the usage of the choice, if it counts (PAR-04). */
export type EvaluationChoice =
  | number
  | {
      /** The index of the chosen branch. */
      readonly selected: number;
      readonly usage?: Usage;
      readonly costUsd?: Cost;
    };

/** Chooses one branch of an evaluation. A strategy that throws leaves the choice to the fallback. */
export type EvaluationStrategyFunction = (
  asked: EvaluationStrategyRequest,
) => EvaluationChoice | Promise<EvaluationChoice>;

/** The strategies that need no registration. */
export const BUILT_IN_EVALUATIONS: readonly string[] = [
  ...PlainStrategy.options,
  ...Object.keys({ judge: true, keep: true } satisfies Record<JudgeOrKeep, true>),
];
type JudgeOrKeep = Exclude<PinnedStrategy["type"], PlainStrategy | "custom">;
