import { z } from "zod";
import { AgentDefinition, LoopLimits } from "./definition.ts";

// How several agents are compared: who, by what, and what they may spend together.

/** An agent by its definition, or by the hash of a stored one. */
export const EvaluationAgent = z.union([
  z.strictObject({ definition: AgentDefinition }),
  z.strictObject({ definitionHash: z.string().min(1) }),
]);
export type EvaluationAgent = z.infer<typeof EvaluationAgent>;

/**
 * Strategies that ask nobody (PAR-05): one branch is passed through; the first that answered, the one with the fewest or
 * with the most tokens is chosen. core/evaluation/strategies.ts says how.
 */
export const PLAIN_STRATEGIES = ["transparent", "pick-first", "token-efficient", "elaborate"] as const;
export type PlainStrategy = (typeof PLAIN_STRATEGIES)[number];

/** What chooses one branch of them all (PAR-05, PAR-06). */
export const EvaluationStrategy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(PLAIN_STRATEGIES) }),
  /** None: all branches are kept, and the session's head stays where it is (HITL-03). */
  z.strictObject({ type: z.literal("keep") }),
  /** A model, in a loop of its own. */
  z.strictObject({
    type: z.literal("judge"),
    judge: EvaluationAgent,
    /** In place of the judge's own. */
    systemPrompt: z.string().optional(),
  }),
  /** A function that the worker has registered. */
  z.strictObject({ type: z.literal("custom"), name: z.string().min(1) }),
]);
export type EvaluationStrategy = z.infer<typeof EvaluationStrategy>;

/** Of all branches and the judge together; what is left out is without limit. */
export const EvaluationLimits = LoopLimits;
export type EvaluationLimits = z.infer<typeof EvaluationLimits>;

/** Branches of one evaluation: each is a child of one workflow, whose history holds a few kilobytes of it. */
export const MAX_BRANCHES = 200;

export const EvaluationPlan = z.strictObject({
  agents: z.array(EvaluationAgent).max(MAX_BRANCHES),
  strategy: EvaluationStrategy,
  limits: EvaluationLimits.optional(),
});
export type EvaluationPlan = z.infer<typeof EvaluationPlan>;
