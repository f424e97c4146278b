import { z } from "zod";
import type { SubAgent } from "../../schema/definition.ts";
import { type AgentTool, defineOfferedTool } from "../tool.ts";

/** The text that SUB-02 demands. */
const MISSING_TASK = "Missing required 'task' parameter";

/** Creates the tool that calls a sub-agent. Each call is a run of its own, which the state machine starts. */
export function createSubAgentTool({ name, description }: Pick<SubAgent, "name" | "description">): AgentTool {
  const tool = defineOfferedTool({
    name,
    description,
    inputSchema: z.object({
      task: z
        .string({ error: MISSING_TASK })
        .min(1, MISSING_TASK)
        .describe("The task, with everything that the agent must know"),
    }),
    // The permission policy judges each call of the sub-agent's own tools separately.
    replay: "idempotent",
    summarise: ({ task }) => task,
  });
  return { ...tool, kind: "agent" };
}
