import type { AgentDefinition } from "../../schema/definition.ts";

/** Naming it offers all tools of a lead. */
const DELEGATE_TOOL = "delegate";
const LEAD_TOOLS = ["delegate", "check_agents", "wait_for_agents", "steer_agent", "stop_agent"];

/**
 * A lead's definition: told of its agents, and with the tools of a lead. These are about the job alone: a policy that
 * would ask about all that it does not name, or deny it, lets them run.
 */
export function createLeadDefinition(
  lead: AgentDefinition,
  agents: readonly { readonly name: string; readonly agent: Pick<AgentDefinition, "description"> }[],
): AgentDefinition {
  const { tools, permissions, systemPrompt } = lead;
  const names = agents.map(({ name, agent }) => `- ${name}${formatAgentDescription(agent.description)}`);
  const leadPrompt = [
    "You lead these agents. Hand tasks to them with delegate; each works in a conversation of its own and knows",
    "nothing but the task that you give it. They work side by side, and what they say comes to you by wait_for_agents.",
    ...names,
  ].join("\n");
  const agentNames = {
    ...lead,
    systemPrompt: systemPrompt === "" ? leadPrompt : `${systemPrompt}\n\n${leadPrompt}`,
    tools: tools.includes(DELEGATE_TOOL) ? tools : [...tools, DELEGATE_TOOL],
  };
  if (permissions.otherwise === "allow" || permissions.otherwise === "ask-unsafe") return agentNames;
  const allowed = { tool: LEAD_TOOLS, outcome: "allow" as const };
  return { ...agentNames, permissions: { ...permissions, rules: [...permissions.rules, allowed] } };
}

function formatAgentDescription(description: string | undefined): string {
  return description === undefined || description === ""
    ? ""
    : `: ${description.replace(/\s+/g, " ").trim()}`;
}
