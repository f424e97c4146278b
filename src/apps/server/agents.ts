import { type AgentDefinitionInput, parseModel } from "../../client/index.ts";
import { nearestName } from "../../platform/text/nearest-name.ts";
import { ServerProblem } from "./problem.ts";
import type { AgentChoice } from "./requests.ts";

/** Agents that the server was started with, by name. Where there are none, a request brings its own definition. */
export type Agents = ReadonlyMap<string, AgentDefinitionInput>;

/** @returns Nothing when none is named and there is no only one. */
export function chosen(agents: Agents, choice: AgentChoice | undefined): AgentDefinitionInput | undefined {
  if (choice === undefined) return agents.size === 1 ? [...agents.values()][0] : undefined;
  if (typeof choice !== "string") {
    // The client checks it whole.
    if (agents.size === 0) return withNamedModels(choice);
    throw ownAgentsOnly(agents);
  }
  const found = agents.get(choice);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const near = nearestName(choice, names);
  const hint =
    names.length === 0
      ? "It was started with none (--agent FILE): send a definition."
      : near === undefined
        ? `It has ${names.join(", ")}.`
        : `Did you mean "${near}"?`;
  throw new ServerProblem("body-invalid", `This server has no agent "${choice}". ${hint}`);
}

/** The agent with another model, as `--model` of a command line: alone it is an agent of that model without tools. */
export function withModel(
  agents: Agents,
  agent: AgentDefinitionInput | undefined,
  model: string | undefined,
): AgentDefinitionInput | undefined {
  if (model === undefined) return agent;
  if (agents.size > 0) throw ownAgentsOnly(agents);
  return { ...agent, model: parseModel(model) };
}

function ownAgentsOnly(agents: Agents): ServerProblem {
  return new ServerProblem(
    "body-invalid",
    `This server starts its own agents only: name one of ${[...agents.keys()].join(", ")} in "agent".`,
  );
}

type Named = Readonly<Record<string, unknown>>;

/** Models that are named as `anthropic/ID` are put in whole, those of fallbacks and sub-agents too. */
function withNamedModels(agent: Named): AgentDefinitionInput {
  const { model, fallbacks, subAgents } = agent;
  return {
    ...agent,
    model: modelFrom(model),
    ...(Array.isArray(fallbacks) ? { fallbacks: fallbacks.map(modelFrom) } : {}),
    ...(Array.isArray(subAgents) ? { subAgents: subAgents.map(subAgentFrom) } : {}),
  } as AgentDefinitionInput;
}

function modelFrom(said: unknown): unknown {
  return typeof said === "string" ? parseModel(said) : said;
}

function subAgentFrom(said: unknown): unknown {
  if (!isNamed(said) || !isNamed(said["agent"])) return said;
  return { ...said, agent: withNamedModels(said["agent"]) };
}

function isNamed(value: unknown): value is Named {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
