import { z } from "zod";
import type { SubAgent } from "../../schema/definition.ts";
import { defineTool, type Tool, ToolError } from "../tool.ts";

/** SUB-02. */
const MISSING = "Missing required 'task' parameter";

/** A sub-agent as the model that may call it sees it. Its calls are runs of their own: the machine has them begun. */
export function subAgentTool({ name, description }: Pick<SubAgent, "name" | "description">): Tool {
  const tool = defineTool({
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
    execute: () => {
      throw new ToolError("failed", `${name} is an agent: it is run, not executed`);
    },
  });
  return { ...tool, agent: true };
}
