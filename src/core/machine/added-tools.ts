// The names of tools that an agent has without naming them, by what its run is for.

/** By which an autonomous agent decides its next round. */
export const PACING_TOOLS = ["finish_work", "sleep"] as const;

/** What a lead does with the agents of its team. */
export type TeamAction = "delegate" | "check_agents" | "wait_for_agents" | "steer_agent" | "stop_agent";

/** By which the lead of a team controls its agents. A definition that names the first gets all of them. */
export const LEAD_TOOLS = [
  "delegate",
  "check_agents",
  "wait_for_agents",
  "steer_agent",
  "stop_agent",
] as const satisfies readonly TeamAction[];

/** By which an agent reads skills: the first name that no other tool of the agent has. */
export const SKILL_READER_NAMES = ["read_skill", "load_skill", "open_skill"] as const;
