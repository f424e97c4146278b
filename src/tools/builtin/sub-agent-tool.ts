import { z } from "zod";
import { MAX_REQUESTED_TURNS, MAX_TURNS_ARGUMENT } from "../../core/machine/requested-turns.ts";
import type { SubAgent } from "../../schema/definition.ts";
import { type AgentTool, defineOfferedTool } from "../tool.ts";

/** The text that SUB-02 demands. */
const MISSING_TASK = "Missing required 'task' parameter";

const TASK_SCHEMA = z.object({
  task: z
    .string({ error: MISSING_TASK })
    .min(1, MISSING_TASK)
    .describe("The task, with everything that the agent must know"),
});

/** Any number is accepted and clamped, so that a value outside does not cost the model a turn. */
const LIMITED_TASK_SCHEMA = TASK_SCHEMA.extend({
  [MAX_TURNS_ARGUMENT]: z
    .number()
    .meta({ type: "integer" })
    .optional()
    .describe(`The most answers that the agent may give, 1 to ${MAX_REQUESTED_TURNS}, for this task`),
});

/** Creates the tool that calls a sub-agent. Each call is a run of its own, which the state machine starts. */
export function createSubAgentTool({
  name,
  description,
  acceptsMaxTurns,
}: Pick<SubAgent, "name" | "description" | "acceptsMaxTurns">): AgentTool {
  const tool = defineOfferedTool({
    name,
    description,
    inputSchema: acceptsMaxTurns === true ? LIMITED_TASK_SCHEMA : TASK_SCHEMA,
    // The permission policy judges each call of the sub-agent's own tools separately.
    replay: "idempotent",
    summarise: ({ task }) => task,
  });
  return { ...tool, kind: "agent" };
}
