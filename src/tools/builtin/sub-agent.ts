import { z } from "zod";
import type { SubAgent } from "../../schema/definition.ts";
import { type AgentTool, offeredTool } from "../tool.ts";

/** SUB-02. */
const MISSING = "Missing required 'task' parameter";

/** A sub-agent as the model that may call it sees it. Its calls are runs of their own: the machine has them begun. */
export function subAgentTool({ name, description }: Pick<SubAgent, "name" | "description">): AgentTool {
  const tool = offeredTool({
    name,
    description,
    parameters: z.object({
      task: z
        .string({ error: MISSING })
        .min(1, MISSING)
        .describe("What is to be done, with all that must be known"),
    }),
    // Its own tools are asked about each by itself.
    replay: "idempotent",
    summarise: ({ task }) => task,
  });
  return { ...tool, kind: "agent" };
}
