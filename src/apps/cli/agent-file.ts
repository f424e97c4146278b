import type { AgentDefinition, LoadedAgent, Problem } from "../../client/index.ts";
import { readAgents } from "../../config/agent-file/read-agents.ts";
import { LEAD_TOOLS, PACING_TOOLS } from "../../core/machine/added-tools.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { AgentFileError } from "./agent-file-error.ts";
import { UsageError } from "./usage-error.ts";

/** The tools that every worker offers, and that agents have by default. */
export const BUILT_IN_TOOLS = [
  "bash",
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "search",
] as const;

/** Tools that every worker has; an agent lists them by name. */
const VIEW_TOOLS = ["prun", "prun_with_memo", "revert_to_state"];

/** Tools by which an agent ends its work for people; an agent lists them by name. */
const LOOP_END_TOOLS = ["hand_off", "pause_work"];

/** Tools by which an agent leaves its sandbox with the user's permission; an agent lists them by name. */
const SANDBOX_TOOLS = ["allow_host", "bash_outside_sandbox"];

/** The names of all tools of a worker, without an application's own. A test compares them with the tools. */
export const KNOWN_TOOLS: readonly string[] = [
  ...BUILT_IN_TOOLS,
  ...VIEW_TOOLS,
  ...LOOP_END_TOOLS,
  ...SANDBOX_TOOLS,
  ...PACING_TOOLS,
  ...LEAD_TOOLS,
];

/** The options of `readAgents` that add warnings about unknown tools and models. */
export const AGENT_FILE_CHECKS = { knownTools: KNOWN_TOOLS, unknownModels: "doubted" } as const;

export type AgentFileContext = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The file's author is not trusted. */
  readonly untrusted?: boolean | undefined;
};

/** @param spec - `FILE`, or `FILE#NAME` for a file with several agents. */
export function loadAgentFile(
  spec: string,
  { cwd, env, untrusted }: AgentFileContext,
): { readonly agent: AgentDefinition; readonly problems: readonly Problem[] } {
  const hash = spec.lastIndexOf("#");
  const file = hash < 0 ? spec : spec.slice(0, hash);
  const { agents, problems } = readAgents(file, { cwd, env, untrusted, ...AGENT_FILE_CHECKS });
  if (agents.length === 0) throw new AgentFileError(file, problems);
  const { definition } = selectAgent(agents, file, hash < 0 ? undefined : spec.slice(hash + 1));
  return {
    agent: definition,
    problems: definition.strict ? problems.filter((one) => !isToolOfTheWorker(one)) : problems,
  };
}

/** Whether a warning is about a tool that is probably the worker's own. A worker without it rejects a strict agent. */
function isToolOfTheWorker({ field, severity, nearest }: Problem): boolean {
  return (
    severity === "warning" && nearest === undefined && /(?:^|\.)tools\.enabled\[\d+\]$/.test(field ?? "")
  );
}

/** Returns the agent of that name; without a name, the file's only agent. */
export function selectAgent(agents: readonly LoadedAgent[], file: string, name?: string): LoadedAgent {
  const names = agents.map((agent) => agent.name);
  if (name === undefined) {
    const [first, second] = agents;
    if (first !== undefined && second === undefined) return first;
    throw new UsageError(
      `${file} defines ${agents.length} agents; choose one: ${file}#${names.join(`, ${file}#`)}`,
    );
  }
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const near = findNearestName(name, names);
  const hint = near === undefined ? `It defines ${names.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UsageError(`${file} defines no agent "${name}". ${hint}`);
}
