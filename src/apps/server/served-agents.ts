import { type AgentDefinitionInput, parseModel } from "../../client/index.ts";
import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { ServerProblem } from "./problem.ts";
import type { AgentChoice } from "./request-schemas.ts";

/** The agents that the server was started with, by name. If there are none, a request contains its own definition. */
export type ServedAgents = ReadonlyMap<string, AgentDefinitionInput>;

/** @returns Nothing if the request specifies no agent and the server does not have exactly one. */
export function selectAgent(
  agents: ServedAgents,
  choice: AgentChoice | undefined,
): AgentDefinitionInput | undefined {
  if (choice === undefined) return agents.size === 1 ? [...agents.values()][0] : undefined;
  if (typeof choice !== "string") {
    // The client validates the whole definition.
    if (agents.size === 0) return resolveModelNames(choice);
    throw createUnknownAgentProblem(agents);
  }
  const found = agents.get(choice);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const near = findNearestName(choice, names);
  const hint =
    names.length === 0
      ? "It was started without agents (--agent FILE): send a definition."
      : near === undefined
        ? `It has ${names.join(", ")}.`
        : `Did you mean "${near}"?`;
  throw new ServerProblem("body-invalid", `This server has no agent "${choice}". ${hint}`);
}

/** Replaces the agent's model, like `--model` on the command line. Without an agent, returns one without tools. */
export function overrideModel(
  agents: ServedAgents,
  agent: AgentDefinitionInput | undefined,
  model: string | undefined,
): AgentDefinitionInput | undefined {
  if (model === undefined) return agent;
  if (agents.size > 0) throw createUnknownAgentProblem(agents);
  return { ...agent, model: parseModel(model) };
}

export function createNoAgentProblem(agents: ServedAgents): ServerProblem {
  const remedy =
    agents.size === 0
      ? 'send a definition in "agent", or start the server with --agent FILE'
      : `specify one of ${[...agents.keys()].join(", ")} in "agent"`;
  return new ServerProblem("body-invalid", `The request specifies no agent: ${remedy}.`);
}

function createUnknownAgentProblem(agents: ServedAgents): ServerProblem {
  return new ServerProblem(
    "body-invalid",
    `This server starts only its own agents: specify one of ${[...agents.keys()].join(", ")} in "agent".`,
  );
}

/** Replaces models given as `anthropic/ID` by complete ones, also in fallbacks and sub-agents. */
function resolveModelNames(agent: JsonObject): AgentDefinitionInput {
  const { model, fallbacks, subAgents } = agent;
  return {
    ...agent,
    model: resolveModel(model),
    ...(Array.isArray(fallbacks) ? { fallbacks: fallbacks.map(resolveModel) } : {}),
    ...(Array.isArray(subAgents) ? { subAgents: subAgents.map(resolveSubAgent) } : {}),
  } as AgentDefinitionInput;
}

function resolveModel(value: unknown): unknown {
  return typeof value === "string" ? parseModel(value) : value;
}

function resolveSubAgent(value: unknown): unknown {
  if (!isObject(value) || !isObject(value["agent"])) return value;
  return { ...value, agent: resolveModelNames(value["agent"]) };
}
