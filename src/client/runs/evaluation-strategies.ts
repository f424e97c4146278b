import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { PlainStrategy } from "../../schema/evaluation.ts";

// The strategies that choose one branch of an evaluation (PAR-05, PAR-06, PAR-14).

/** Asks a model which answer is best, in a separate loop. */
export type JudgeStrategy = {
  readonly type: "judge";
  /** The agent that judges the answers. */
  readonly judge: AgentDefinitionInput;
  /** Replaces the judge's own system prompt. A judge without one receives the default instructions. */
  readonly systemPrompt?: string;
};

/** How the best of several answers is chosen. The strategies without options are values, such as `pickFirst`. */
export type EvaluationStrategy =
  | { readonly type: PlainStrategy }
  /** Chooses none: all branches are retained, and the session's head stays where it is. */
  | { readonly type: "keep" }
  | JudgeStrategy
  | {
      readonly type: "custom";
      /** The name under which the worker has registered the function. */
      readonly name: string;
    };

/** Passes the only branch through. */
export const transparent: EvaluationStrategy = { type: "transparent" };

/** Chooses the first configuration that answered. */
export const pickFirst: EvaluationStrategy = { type: "pick-first" };

/** Chooses the answer that used the fewest tokens. */
export const tokenEfficient: EvaluationStrategy = { type: "token-efficient" };

/** Chooses the answer that used the most tokens. */
export const elaborate: EvaluationStrategy = { type: "elaborate" };

/** Lets a model choose the answer. */
export function createJudgeStrategy(
  judge: AgentDefinitionInput,
  options: {
    /** Replaces the judge's own system prompt. */
    readonly systemPrompt?: string;
  } = {},
): EvaluationStrategy {
  return { type: "judge", judge, ...options };
}

/** Chooses with a function that the worker has registered (`createWorker({ evaluationStrategies })`). */
export function createCustomStrategy(name: string): EvaluationStrategy {
  return { type: "custom", name };
}
