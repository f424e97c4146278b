import type { AgentDefinitionInput } from "../../client/index.ts";
import { readAgents } from "../../config/agent-file/read-agents.ts";
import { type AgentFileContext, KNOWN_TOOLS, loadAgentFile } from "./agent-file.ts";
import { AgentFileError } from "./agent-file-error.ts";
import { UsageError } from "./usage-error.ts";

/** Loads the agents of files by name: all agents of a `FILE`, one agent of a `FILE#NAME`. */
export function loadAgents(
  files: readonly string[],
  fileContext: AgentFileContext,
): ReadonlyMap<string, AgentDefinitionInput> {
  const found = new Map<string, AgentDefinitionInput>();
  for (const file of files) {
    for (const [name, agent] of loadAgentsOfFile(file, fileContext)) {
      if (found.has(name))
        throw new UsageError(
          `Two agents have the name "${name}", so requests cannot select one. Rename one of them.`,
        );
      found.set(name, agent);
    }
  }
  return found;
}

function loadAgentsOfFile(
  file: string,
  fileContext: AgentFileContext,
): readonly (readonly [string, AgentDefinitionInput])[] {
  if (file.includes("#")) {
    const { agent } = loadAgentFile(file, fileContext);
    return [[agent.name, agent]];
  }
  const { agents, problems } = readAgents(file, { ...fileContext, knownTools: KNOWN_TOOLS });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  return agents.map(({ name, definition }) => [name, definition]);
}
