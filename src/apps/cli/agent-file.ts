import { type AgentDefinition, type LoadedAgent, type Problem, readAgents } from "../../client/index.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { UsageError } from "./usage-error.ts";

/** What every worker offers. */
export const BUILT_IN_TOOLS = [
  "bash",
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "search",
] as const;

/** Those that every worker has, and an agent asks for by name. */
const VIEW_TOOLS = ["prun", "prun_with_memo", "revert_to_state"];

/** An agent that works by itself is given them; any other has no use for them. */
const AUTONOMOUS_TOOLS = ["finish_work", "sleep"];

/** Of the lead of a team. */
const TEAM_TOOLS = ["delegate", "check_agents", "wait_for_agents", "steer_agent", "stop_agent"];

/** The names of all tools that a worker has without an application's own; a test compares them with the tools. */
export const KNOWN_TOOLS: readonly string[] = [
  ...BUILT_IN_TOOLS,
  ...VIEW_TOOLS,
  ...AUTONOMOUS_TOOLS,
  ...TEAM_TOOLS,
];

/** What a file is held against, so that what is doubtful is said. */
export const AGENT_FILE_CHECKS = { knownTools: KNOWN_TOOLS, unknownModels: "doubted" } as const;

export type AgentFileContext = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The file comes from a stranger. */
  readonly untrusted?: boolean | undefined;
};

/** An agent file that cannot be used; its problems are shown with their lines. */
export class AgentFileError extends UsageError {
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    super(`${file} is not an agent that can be used.`);
    this.problems = problems;
  }
}

/** @param named - `FILE`, or `FILE#NAME` where the file holds several. */
export function loadAgentFile(
  spec: string,
  { cwd, env, untrusted }: AgentFileContext,
): { readonly agent: AgentDefinition; readonly problems: readonly Problem[] } {
  const hash = spec.lastIndexOf("#");
  const file = hash < 0 ? spec : spec.slice(0, hash);
  const { agents, problems } = readAgents(file, { cwd, env, untrusted, ...AGENT_FILE_CHECKS });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  const { definition } = selectAgent(agents, file, hash < 0 ? undefined : spec.slice(hash + 1));
  return { agent: definition, problems };
}

/** The agent of that name; without a name, the only one there is. */
export function selectAgent(agents: readonly LoadedAgent[], file: string, name?: string): LoadedAgent {
  const names = agents.map((agent) => agent.name);
  if (name === undefined) {
    const [first, second] = agents;
    if (first !== undefined && second === undefined) return first;
    throw new UsageError(
      `${file} holds ${agents.length} agents; choose one: ${file}#${names.join(`, ${file}#`)}`,
    );
  }
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const near = findNearestName(name, names);
  const hint = near === undefined ? `It holds ${names.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`${file} holds no agent "${name}". ${hint}`);
}
