import { z } from "zod";
import { type OfferSpec, offeredTool, type TeamTool } from "../tool.ts";

// What the lead of a team does with its agents. The calls are answered by the job that the lead works for.

/** Names of the tools of a lead; a definition that names the first has all of them. */
const TEAM_TOOLS = ["delegate", "check_agents", "wait_for_agents", "steer_agent", "stop_agent"] as const;
export type TeamAct = (typeof TEAM_TOOLS)[number];

const id = z.string().min(1).describe("As delegate has given it");
const ids = z.array(z.string().min(1)).max(100).optional();

/** A call of a tool takes an hour at most. Who has more patience waits again. */
const MAX_WAIT_SECONDS = 3_000;

export const DelegateCall = z.object({
  agent: z.string().min(1).describe("The name of one of your agents"),
  task: z
    .string()
    .min(1)
    .describe("What is to be done, with all that must be known: the agent sees nothing else"),
});
export const CheckCall = z.object({ ids: ids.describe("All that you have begun, unless said") });
export const WaitCall = z.object({
  ids: ids.describe("All that you have begun, unless said"),
  timeoutSecs: z
    .number()
    .positive()
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe("After this, what there is then; 3000 unless said"),
});
export const SteerCall = z.object({
  id,
  message: z.string().min(1).describe("The agent reads it before its next answer"),
});
export const StopCall = z.object({ id, reason: z.string().optional().describe("Kept in the record") });

/** Tools that a lead is offered together. A worker has them; outside of a job they give an error. */
export function teamTools(): readonly TeamTool[] {
  return [
    teamTool("delegate", {
      description: "Hands a task to one of your agents, which begins at once beside you. Gives its id.",
      parameters: DelegateCall,
      // A call that is made again finds the agent that was begun.
      replay: "idempotent",
      summarise: ({ agent, task }) => `${agent}: ${task}`,
    }),
    teamTool("check_agents", {
      description: "Where your agents stand, and what those have said that are over. Does not wait.",
      parameters: CheckCall,
      replay: "pure",
      summarise: ({ ids: asked }) => (asked ?? []).join(", "),
    }),
    teamTool("wait_for_agents", {
      description: "Waits until agents are over, and gives what they have said.",
      parameters: WaitCall,
      replay: "pure",
      summarise: ({ ids: asked }) => (asked ?? []).join(", "),
    }),
    teamTool("steer_agent", {
      description: "Sends words to an agent at work.",
      parameters: SteerCall,
      // A message has an id: it is taken once.
      replay: "idempotent",
      summarise: ({ id: asked, message }) => `${asked}: ${message}`,
    }),
    teamTool("stop_agent", {
      description: "Ends an agent at work; what it has said so far is kept.",
      parameters: StopCall,
      replay: "idempotent",
      summarise: ({ id: asked }) => asked,
    }),
  ];
}

function teamTool<Schema extends z.ZodObject>(
  name: TeamAct,
  spec: Omit<OfferSpec<Schema>, "name">,
): TeamTool {
  const tool = offeredTool({ ...spec, name } as OfferSpec<Schema>);
  const together = name === "delegate" ? { together: TEAM_TOOLS.slice(1) } : {};
  return { ...tool, ...together, kind: "team", act: name };
}
