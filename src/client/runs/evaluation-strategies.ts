import type { AgentDefinitionInput } from "../../schema/definition.ts";
import type { EvaluationStrategy as Pinned } from "../../schema/evaluation.ts";

// What chooses one branch of an evaluation (PAR-05, PAR-06, PAR-14).

/** Asks a model which answer is best, in a loop of its own. */
export type JudgeStrategy = {
  readonly type: "judge";
  readonly judge: AgentDefinitionInput;
  /** In place of the judge's own; one that has none is told what to do. */
  readonly systemPrompt?: string;
};

export type EvaluationStrategy = Exclude<Pinned, { readonly type: "judge" }> | JudgeStrategy;

/** Passes the one branch through. */
export const transparent: EvaluationStrategy = { type: "transparent" };

/** The first configuration that answered. */
export const pickFirst: EvaluationStrategy = { type: "pick-first" };

/** The answer that has cost the fewest tokens. */
export const tokenEfficient: EvaluationStrategy = { type: "token-efficient" };

/** The answer that has cost the most tokens. */
export const elaborate: EvaluationStrategy = { type: "elaborate" };

export function createJudgeStrategy(
  judge: AgentDefinitionInput,
  options: { readonly systemPrompt?: string } = {},
): EvaluationStrategy {
  return { type: "judge", judge, ...options };
}

/** A function that the worker has registered (`createWorker({ evaluationStrategies })`). */
export function createCustomStrategy(name: string): EvaluationStrategy {
  return { type: "custom", name };
}
