import { z } from "zod";
import { LEAD_TOOLS, type TeamAction } from "../../core/machine/added-tools.ts";
import { defineOfferedTool, type OfferedToolSpec, type TeamTool } from "../tool.ts";

// The tools by which the lead of a team controls its agents. The job that the lead works for answers the calls.

const idSchema = z.string().min(1).describe("The id that delegate returned");
const idsSchema = z.array(z.string().min(1)).max(100).optional();

/** A tool call may take one hour at most. A lead that wants to wait longer calls the tool again. */
const MAX_WAIT_SECONDS = 3_000;

export const DelegateArguments = z.object({
  agent: z.string().min(1).describe("The name of one of your agents"),
  task: z
    .string()
    .min(1)
    .describe("The task, with everything that the agent must know: it sees nothing else"),
});
export const CheckArguments = z.object({
  ids: idsSchema.describe("Ids of the agents; all agents that you have started by default"),
});
export const WaitArguments = z.object({
  ids: idsSchema.describe("Ids of the agents; all agents that you have started by default"),
  timeoutSecs: z
    .number()
    .positive()
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe(
      "How long to wait, in seconds; 3000 by default. After this time the tool returns the results so far",
    ),
});
export const SteerArguments = z.object({
  id: idSchema,
  message: z.string().min(1).describe("The message for the agent, which reads it before its next answer"),
});
export const StopArguments = z.object({
  id: idSchema,
  reason: z.string().optional().describe("Why you stop the agent; stored in the record"),
});

/** Creates the tools that a lead gets together. Outside a job their calls return an error. */
export function createTeamTools(): readonly TeamTool[] {
  return [
    defineTeamTool("delegate", {
      description:
        "Gives a task to one of your agents. The agent starts at once and works in parallel with you. Returns the agent's id.",
      inputSchema: DelegateArguments,
      // A repeated call finds the agent that the first one started.
      replay: "idempotent",
      summarise: ({ agent, task }) => `${agent}: ${task}`,
    }),
    defineTeamTool("check_agents", {
      description:
        "Returns the status of your agents, and the answers of those that have ended. Does not wait.",
      inputSchema: CheckArguments,
      replay: "pure",
      summarise: ({ ids: agents }) => (agents ?? []).join(", "),
    }),
    defineTeamTool("wait_for_agents", {
      description: "Waits until the agents have ended, and returns their answers.",
      inputSchema: WaitArguments,
      replay: "pure",
      summarise: ({ ids: agents }) => (agents ?? []).join(", "),
    }),
    defineTeamTool("steer_agent", {
      description: "Sends a message to a running agent.",
      inputSchema: SteerArguments,
      // A message has an id: it is delivered once.
      replay: "idempotent",
      summarise: ({ id: agents, message }) => `${agents}: ${message}`,
    }),
    defineTeamTool("stop_agent", {
      description: "Stops a running agent. The text that it has produced so far is stored.",
      inputSchema: StopArguments,
      replay: "idempotent",
      summarise: ({ id: agents }) => agents,
    }),
  ];
}

function defineTeamTool<Schema extends z.ZodObject>(
  name: TeamAction,
  spec: Omit<OfferedToolSpec<Schema>, "name">,
): TeamTool {
  const tool = defineOfferedTool({ ...spec, name } as OfferedToolSpec<Schema>);
  const together = name === "delegate" ? { companions: LEAD_TOOLS.slice(1) } : {};
  return { ...tool, ...together, kind: "team", action: name };
}
