import type { AgentDefinitionInput, WorkMode } from "../../client/index.ts";

/** Replaces each agent of a mode. */
export function mapModeAgents<Mode extends WorkMode>(
  mode: Mode,
  apply: (agent: AgentDefinitionInput) => AgentDefinitionInput,
): Mode {
  switch (mode.type) {
    case "interactive":
    case "autonomous":
      return { ...mode, agent: apply(mode.agent) };
    case "pipeline":
      return { ...mode, stages: mode.stages.map((stage) => ({ ...stage, agent: apply(stage.agent) })) };
    case "fan-out":
      return { ...mode, agents: mode.agents.map(apply) };
    case "supervisor":
      return {
        ...mode,
        lead: apply(mode.lead),
        agents: mode.agents.map((named) => ({ ...named, agent: apply(named.agent) })),
      };
  }
}
