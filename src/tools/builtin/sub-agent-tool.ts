import { z } from "zod";
import type { SubAgent } from "../../schema/definition.ts";
import { type AgentTool, defineOfferedTool } from "../tool.ts";

/** SUB-02. */
const MISSING_TASK = "Missing required 'task' parameter";

/** A sub-agent as the model that may call it sees it. Its calls are runs of their own: the machine has them begun. */
export function createSubAgentTool({ name, description }: Pick<SubAgent, "name" | "description">): AgentTool {
  const tool = defineOfferedTool({
    name,
    description,
    parameters: z.object({
      task: z
        .string({ error: MISSING_TASK })
        .min(1, MISSING_TASK)
        .describe("What is to be done, with all that must be known"),
    }),
    // Its own tools are asked about each by itself.
    replay: "idempotent",
    summarise: ({ task }) => task,
  });
  return { ...tool, kind: "agent" };
}
