import { LEAD_TOOLS } from "../../core/machine/added-tools.ts";
import type { AgentDefinition } from "../../schema/definition.ts";

/** A definition that contains this tool gets all tools of a lead. */
const DELEGATE_TOOL = "delegate";

/**
 * Builds a lead's definition: lists its agents in the prompt, and adds the tools of a lead. These affect the job alone, so
 * that a policy with a strict default still allows them.
 */
export function createLeadDefinition(
  lead: AgentDefinition,
  agents: readonly { readonly name: string; readonly agent: Pick<AgentDefinition, "description"> }[],
): AgentDefinition {
  const { tools, permissions, systemPrompt } = lead;
  const names = agents.map(({ name, agent }) => `- ${name}${formatAgentDescription(agent.description)}`);
  const leadPrompt = [
    "You lead these agents. Delegate tasks to them with delegate. Each agent works in a separate conversation and knows",
    "only the task that you give it. The agents work in parallel. Call wait_for_agents to receive their answers.",
    ...names,
  ].join("\n");
  const definition = {
    ...lead,
    systemPrompt: systemPrompt === "" ? leadPrompt : `${systemPrompt}\n\n${leadPrompt}`,
    tools: tools.includes(DELEGATE_TOOL) ? tools : [...tools, DELEGATE_TOOL],
  };
  if (permissions.otherwise === "allow" || permissions.otherwise === "ask-unsafe") return definition;
  const allowed = { tool: [...LEAD_TOOLS], outcome: "allow" as const };
  return { ...definition, permissions: { ...permissions, rules: [...permissions.rules, allowed] } };
}

function formatAgentDescription(description: string | undefined): string {
  return description === undefined || description === ""
    ? ""
    : `: ${description.replace(/\s+/g, " ").trim()}`;
}
