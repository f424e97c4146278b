import type { AgentDefinition } from "../../schema/definition.ts";

/** Tools of Holdfast itself: what they do changes with its releases alone. */
export const HOLDFAST_TOOLS: ReadonlySet<string> = new Set([
  "bash",
  "read_file",
  "write_file",
  "edit_file",
  "list_files",
  "search",
  "prun",
  "prun_with_memo",
  "revert_to_state",
  "hand_off",
  "pause_work",
  "allow_host",
  "bash_outside_sandbox",
  "sleep",
  "finish_work",
  "delegate",
  "check_agents",
  "wait_for_agents",
  "steer_agent",
  "stop_agent",
  "read_full_message",
]);

/**
 * Lists what an agent runs that its definition names and does not contain: an application's own tools, tool servers, hooks
 * and functions. A result depends on their code, which only a version can tell.
 */
export function listOwnCode(definition: AgentDefinition): readonly string[] {
  const { tools, mcp = [], openapi = {}, hooks, inputFilters, subAgents = [] } = definition;
  const { transformContext, convertToLlm, contextTranslation } = definition;
  const uses = Object.values(hooks).flatMap((points) => points ?? []);
  const own = [
    ...tools.filter((name) => !HOLDFAST_TOOLS.has(name)),
    ...mcp.map(({ name }) => name),
    ...Object.keys(openapi),
    ...uses.flatMap((use) => (typeof use === "string" ? [use] : "name" in use ? [String(use.name)] : [])),
    ...inputFilters,
    ...transformContext,
    ...(convertToLlm === null ? [] : [convertToLlm]),
    ...(typeof contextTranslation === "string" && contextTranslation !== "default"
      ? [contextTranslation]
      : []),
    ...subAgents.flatMap(({ agent }) => listOwnCode(agent)),
  ];
  return [...new Set(own)].sort();
}
