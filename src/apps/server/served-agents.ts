import { type AgentDefinitionInput, parseModel } from "../../client/index.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { ServerProblem } from "./problem.ts";
import type { AgentChoice } from "./request-schemas.ts";

/** Agents that the server was started with, by name. Where there are none, a request brings its own definition. */
export type ServedAgents = ReadonlyMap<string, AgentDefinitionInput>;

/** @returns Nothing when none is named and there is no only one. */
export function selectAgent(
  agents: ServedAgents,
  choice: AgentChoice | undefined,
): AgentDefinitionInput | undefined {
  if (choice === undefined) return agents.size === 1 ? [...agents.values()][0] : undefined;
  if (typeof choice !== "string") {
    // The client checks it whole.
    if (agents.size === 0) return resolveModelNames(choice);
    throw createUnknownAgentProblem(agents);
  }
  const found = agents.get(choice);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const near = findNearestName(choice, names);
  const hint =
    names.length === 0
      ? "It was started with none (--agent FILE): send a definition."
      : near === undefined
        ? `It has ${names.join(", ")}.`
        : `Did you mean "${near}"?`;
  throw new ServerProblem("body-invalid", `This server has no agent "${choice}". ${hint}`);
}

/** The agent with another model, as `--model` of a command line: alone it is an agent of that model without tools. */
export function overrideModel(
  agents: ServedAgents,
  agent: AgentDefinitionInput | undefined,
  model: string | undefined,
): AgentDefinitionInput | undefined {
  if (model === undefined) return agent;
  if (agents.size > 0) throw createUnknownAgentProblem(agents);
  return { ...agent, model: parseModel(model) };
}

function createUnknownAgentProblem(agents: ServedAgents): ServerProblem {
  return new ServerProblem(
    "body-invalid",
    `This server starts its own agents only: name one of ${[...agents.keys()].join(", ")} in "agent".`,
  );
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Models that are named as `anthropic/ID` are put in whole, those of fallbacks and sub-agents too. */
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
  if (!isJsonObject(value) || !isJsonObject(value["agent"])) return value;
  return { ...value, agent: resolveModelNames(value["agent"]) };
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
