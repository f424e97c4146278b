import { z } from "zod";
import { AgentDefinition } from "./definition.ts";
import { SharedLimitValues } from "./limits.ts";

// How several agents are compared: the agents, the strategy, and their common limits.

/** An agent by its definition, or by the hash of a stored one. */
export const EvaluationAgent = z.union([
  z.strictObject({
    definition: AgentDefinition.describe("The whole definition."),
  }),
  z.strictObject({ definitionHash: z.string().min(1).describe("The hash of a stored definition.") }),
]);
export type EvaluationAgent = z.infer<typeof EvaluationAgent>;

/**
 * Strategies that call no model (PAR-05): pass one branch through, or choose the first that answered, or the one with the
 * fewest or the most tokens. See conversation/evaluation/strategies.ts.
 */
export const PlainStrategy = z.enum(["transparent", "pick-first", "token-efficient", "elaborate"]);
export type PlainStrategy = z.infer<typeof PlainStrategy>;

/** How one of the branches is chosen (PAR-05, PAR-06), with a judge whose definition can be a stored one. */
export const PinnedStrategy = z.discriminatedUnion("type", [
  z.strictObject({ type: PlainStrategy.describe("The strategy.") }),
  /** Chooses none: all branches are retained, and the session's head stays where it is (HITL-03). */
  z.strictObject({ type: z.literal("keep") }),
  /** A model, in a loop of its own. */
  z.strictObject({
    type: z.literal("judge"),
    judge: EvaluationAgent.describe("The agent that judges the answers."),
    systemPrompt: z.string().optional().describe("A system prompt that replaces the judge's own."),
  }),
  /** A function that the worker has registered. */
  z.strictObject({
    type: z.literal("custom"),
    name: z.string().min(1).describe("The name under which it is registered."),
  }),
]);
export type PinnedStrategy = z.infer<typeof PinnedStrategy>;

/** The limits of all branches and the judge together; an omitted limit is disabled. */
export const EvaluationLimits = z.strictObject(SharedLimitValues).partial();
export type EvaluationLimits = z.infer<typeof EvaluationLimits>;

/** The maximum branches of one evaluation: each is a child of one workflow, whose history has a few kilobytes for it. */
export const MAX_BRANCHES = 200;

/** What an evaluation compares, how it chooses, and its limits. */
export const EvaluationPlan = z.strictObject({
  agents: z.array(EvaluationAgent).max(MAX_BRANCHES).describe("The agents, one for each branch."),
  strategy: PinnedStrategy.describe("How a branch is chosen."),
  limits: EvaluationLimits.optional().describe("The limits of all branches and the judge together."),
});
export type EvaluationPlan = z.infer<typeof EvaluationPlan>;
