import { z } from "zod";
import { AgentDefinition, LoopLimits } from "./definition.ts";

// How several agents are compared: the agents, the strategy, and their common limits.

/** An agent by its definition, or by the hash of a stored one. */
export const EvaluationAgent = z.union([
  z.strictObject({ definition: AgentDefinition }),
  z.strictObject({ definitionHash: z.string().min(1) }),
]);
export type EvaluationAgent = z.infer<typeof EvaluationAgent>;

/**
 * Strategies that call no model (PAR-05): pass one branch through, or choose the first that answered, or the one with the
 * fewest or the most tokens. See conversation/evaluation/strategies.ts.
 */
export const PLAIN_STRATEGIES = ["transparent", "pick-first", "token-efficient", "elaborate"] as const;
export type PlainStrategy = (typeof PLAIN_STRATEGIES)[number];

/** How one of the branches is chosen (PAR-05, PAR-06). */
export const EvaluationStrategy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(PLAIN_STRATEGIES) }),
  /** Chooses none: all branches are retained, and the session's head stays where it is (HITL-03). */
  z.strictObject({ type: z.literal("keep") }),
  /** A model, in a loop of its own. */
  z.strictObject({
    type: z.literal("judge"),
    judge: EvaluationAgent,
    /** Replaces the judge's own. */
    systemPrompt: z.string().optional(),
  }),
  /** A function that the worker has registered. */
  z.strictObject({ type: z.literal("custom"), name: z.string().min(1) }),
]);
export type EvaluationStrategy = z.infer<typeof EvaluationStrategy>;

/** The limits of all branches and the judge together; an omitted limit is disabled. */
export const EvaluationLimits = LoopLimits;
export type EvaluationLimits = z.infer<typeof EvaluationLimits>;

/** The maximum branches of one evaluation: each is a child of one workflow, whose history has a few kilobytes for it. */
export const MAX_BRANCHES = 200;

export const EvaluationPlan = z.strictObject({
  agents: z.array(EvaluationAgent).max(MAX_BRANCHES),
  strategy: EvaluationStrategy,
  limits: EvaluationLimits.optional(),
});
export type EvaluationPlan = z.infer<typeof EvaluationPlan>;
