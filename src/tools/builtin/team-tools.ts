import { z } from "zod";
import { defineOfferedTool, type OfferedToolSpec, type TeamTool } from "../tool.ts";

// What the lead of a team does with its agents. The calls are answered by the job that the lead works for.

/** Names of the tools of a lead; a definition that names the first has all of them. */
const TEAM_TOOL_NAMES = ["delegate", "check_agents", "wait_for_agents", "steer_agent", "stop_agent"] as const;
export type TeamAction = (typeof TEAM_TOOL_NAMES)[number];

const idSchema = z.string().min(1).describe("As delegate has given it");
const idsSchema = z.array(z.string().min(1)).max(100).optional();

/** A call of a tool takes an hour at most. Who has more patience waits again. */
const MAX_WAIT_SECONDS = 3_000;

export const DelegateArguments = z.object({
  agent: z.string().min(1).describe("The name of one of your agents"),
  task: z
    .string()
    .min(1)
    .describe("What is to be done, with all that must be known: the agent sees nothing else"),
});
export const CheckArguments = z.object({ ids: idsSchema.describe("All that you have begun, unless said") });
export const WaitArguments = z.object({
  ids: idsSchema.describe("All that you have begun, unless said"),
  timeoutSecs: z
    .number()
    .positive()
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe("After this, what there is then; 3000 unless said"),
});
export const SteerArguments = z.object({
  id: idSchema,
  message: z.string().min(1).describe("The agent reads it before its next answer"),
});
export const StopArguments = z.object({
  id: idSchema,
  reason: z.string().optional().describe("Kept in the record"),
});

/** Tools that a lead is offered together. A worker has them; outside of a job they give an error. */
export function createTeamTools(): readonly TeamTool[] {
  return [
    defineTeamTool("delegate", {
      description: "Hands a task to one of your agents, which begins at once beside you. Gives its id.",
      parameters: DelegateArguments,
      // A call that is made again finds the agent that was begun.
      replay: "idempotent",
      summarise: ({ agent, task }) => `${agent}: ${task}`,
    }),
    defineTeamTool("check_agents", {
      description: "Where your agents stand, and what those have said that are over. Does not wait.",
      parameters: CheckArguments,
      replay: "pure",
      summarise: ({ ids: agents }) => (agents ?? []).join(", "),
    }),
    defineTeamTool("wait_for_agents", {
      description: "Waits until agents are over, and gives what they have said.",
      parameters: WaitArguments,
      replay: "pure",
      summarise: ({ ids: agents }) => (agents ?? []).join(", "),
    }),
    defineTeamTool("steer_agent", {
      description: "Sends words to an agent at work.",
      parameters: SteerArguments,
      // A message has an id: it is taken once.
      replay: "idempotent",
      summarise: ({ id: agents, message }) => `${agents}: ${message}`,
    }),
    defineTeamTool("stop_agent", {
      description: "Ends an agent at work; what it has said so far is kept.",
      parameters: StopArguments,
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
  const together = name === "delegate" ? { together: TEAM_TOOL_NAMES.slice(1) } : {};
  return { ...tool, ...together, kind: "team", act: name };
}
