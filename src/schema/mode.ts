import { z } from "zod";
import { AgentDefinition } from "./definition.ts";
import { buildLimits, SharedLimitValues } from "./limits.ts";
import { findCostLimitProblem } from "./prices.ts";

// How agents work together on a task. One description for code, files and the command line; each mode is a workflow.

/**
 * What all runs of a job may use together. `null`, the default, is without limit; each agent still has its own limits.
 * The duration counts from the start; nothing new begins after it.
 */
export const JobLimits = buildLimits(SharedLimitValues);
export type JobLimits = z.infer<typeof JobLimits>;

const limits = JobLimits.default(() => JobLimits.parse({}));

/** The name of a part, which is used in the ids of sessions. */
export const PartName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, - or _");

/** The maximum of one stage's prompt, which travels in the start of the job. */
export const MAX_TEMPLATE_CHARS = 8 * 1024;
/** The maximum of one stage's schema as JSON, for the same reason. */
const MAX_INPUT_SCHEMA_CHARS = 8 * 1024;

const InputSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => JSON.stringify(schema).length <= MAX_INPUT_SCHEMA_CHARS, {
    message: `must have at most ${MAX_INPUT_SCHEMA_CHARS} characters as JSON`,
  });

/** One agent of a pipeline. */
export const Stage = z.strictObject({
  name: PartName.describe("The name of the stage, unique within the job."),
  agent: AgentDefinition.describe("The agent of the stage."),
  prompt: z
    .string()
    .min(1)
    .max(MAX_TEMPLATE_CHARS)
    .optional()
    .describe(
      "The prompt of the stage: `{{input}}` is the output of the previous stage, `{{task}}` the job's task. By default only the input.",
    ),
  input: InputSchema.optional().describe("A JSON Schema that the input must match."),
});
export type Stage = z.infer<typeof Stage>;

const areUnique = (names: readonly string[]) => new Set(names).size === names.length;
const UNIQUE = { message: "must have unique names" };

const InteractiveMode = z.strictObject({
  type: z.literal("interactive"),
  agent: AgentDefinition.describe("The agent."),
  idleTimeoutMs: z
    .number()
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe("How long it waits for a prompt before it ends; `null`, the default, waits forever."),
});

/** An agent that works in rounds until it reports that it is done, its budget is spent, or a user stops it. */
export const AutonomousMode = z.strictObject({
  type: z.literal("autonomous"),
  agent: AgentDefinition.describe("The agent."),
  maxIdleRounds: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(3)
    .describe(
      "The maximum of consecutive rounds that end without a call that says whether the work is done.",
    ),
  maxRounds: z
    .number()
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe("The most rounds; `null`, the default, has no limit."),
  limits: limits.describe("The limits of the whole job."),
});

/** Agents one after the other: the output of one is the prompt of the next. */
const PipelineMode = z.strictObject({
  type: z.literal("pipeline"),
  stages: z
    .array(Stage)
    .min(1)
    .max(32)
    .refine((stages) => areUnique(stages.map(({ name }) => name)), UNIQUE)
    .describe("The stages, in their order; at most 32."),
  limits: limits.describe("The limits of the whole job."),
});

/** One task for many agents, or many tasks for one; a reducer combines their outputs. */
export const FanOutMode = z.strictObject({
  type: z.literal("fan-out"),
  agents: z.array(AgentDefinition).min(1).max(64).describe("The agents; at most 64."),
  tasks: z
    .array(z.string().min(1))
    .min(1)
    .max(500)
    .optional()
    .describe(
      "The tasks: each agent gets each of them, with the job's task in place of `{{task}}`; by default only the job's task.",
    ),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe("The number of parts that run at the same time."),
  reducer: z
    .string()
    .min(1)
    .max(120)
    .default("list")
    .describe(
      "What combines the outputs: `list`, `first`, `longest`, `vote`, or the name of a reducer that the worker has registered.",
    ),
  limits: limits.describe("The limits of the whole job."),
});

/** An agent that delegates tasks to named agents, and may steer and stop them. */
export const SupervisorMode = z.strictObject({
  type: z.literal("supervisor"),
  lead: AgentDefinition.describe("The agent that delegates."),
  agents: z
    .array(
      z.strictObject({
        name: PartName.describe("The name by which the lead delegates to it."),
        agent: AgentDefinition.describe("The agent that gets the task."),
      }),
    )
    .min(1)
    .max(64)
    .refine((agents) => areUnique(agents.map(({ name }) => name)), UNIQUE)
    .describe(
      "The agents that get tasks. The lead knows each by its name and its definition's `description`.",
    ),
  maxAgents: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .describe("The number of tasks that may be delegated."),
  limits: limits.describe("The limits of the whole job."),
});

/** What a job does: how its agents work together on the task. */
export const WorkMode = z
  .discriminatedUnion("type", [InteractiveMode, AutonomousMode, PipelineMode, FanOutMode, SupervisorMode])
  .superRefine((mode, context) => {
    if (mode.type === "interactive" || mode.limits.maxCostUsd === null) return;
    const message = findCostLimitProblem(listModeAgents(mode));
    if (message !== undefined) context.addIssue({ code: "custom", path: ["limits", "maxCostUsd"], message });
  });
export type WorkMode = z.infer<typeof WorkMode>;

/** Lists the agents of a mode, without their sub-agents. */
export function listModeAgents(mode: WorkMode): readonly AgentDefinition[] {
  switch (mode.type) {
    case "interactive":
    case "autonomous":
      return [mode.agent];
    case "pipeline":
      return mode.stages.map(({ agent }) => agent);
    case "fan-out":
      return mode.agents;
    case "supervisor":
      return [mode.lead, ...mode.agents.map(({ agent }) => agent)];
  }
}
/** The input from an author: fields with a default are optional. */
export type WorkModeInput = z.input<typeof WorkMode>;
