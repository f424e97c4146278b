import { type AgentDefinitionInput, readAgents } from "../../client/index.ts";
import { AgentFileError, agentFromFile, KNOWN_TOOLS, type Surroundings } from "./agent-file.ts";
import { UsageError } from "./usage-error.ts";

/** The agents of files, by name: all of a `FILE`, one of a `FILE#NAME`. */
export function agentsFrom(
  files: readonly string[],
  surroundings: Surroundings,
): ReadonlyMap<string, AgentDefinitionInput> {
  const found = new Map<string, AgentDefinitionInput>();
  for (const file of files) {
    for (const [name, agent] of agentsIn(file, surroundings)) {
      if (found.has(name))
        throw new UsageError(`Two agents are called "${name}"; requests could not tell them apart.`);
      found.set(name, agent);
    }
  }
  return found;
}

function agentsIn(
  file: string,
  surroundings: Surroundings,
): readonly (readonly [string, AgentDefinitionInput])[] {
  if (file.includes("#")) {
    const { agent } = agentFromFile(file, surroundings);
    return [[agent.name, agent]];
  }
  const { agents, problems } = readAgents(file, { ...surroundings, knownTools: KNOWN_TOOLS });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  return agents.map(({ name, definition }) => [name, definition]);
}
