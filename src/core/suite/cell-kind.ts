import type { AgentDefinition } from "../../schema/definition.ts";
import type { CellKind, SuiteCase } from "../../schema/suite.ts";

/**
 * Returns how the cells of a definition are asked. One request suffices where nothing but the model takes part: no tool,
 * hook, filter, sub-agent or function of an application.
 */
export function getDefinitionKind(definition: AgentDefinition): CellKind {
  const { tools, mcp, openapi, skills, subAgents, hooks, inputFilters } = definition;
  const { transformContext, convertToLlm, contextTranslation, titles, snapshots } = definition;
  const hasTools =
    tools.length > 0 ||
    (mcp ?? []).length > 0 ||
    Object.keys(openapi ?? {}).length > 0 ||
    skills !== undefined ||
    (subAgents ?? []).length > 0;
  const hasFunctions =
    Object.keys(hooks).length > 0 ||
    inputFilters.length > 0 ||
    transformContext.length > 0 ||
    convertToLlm !== null ||
    typeof contextTranslation === "string";
  const isPlain = titles !== "model" && snapshots === undefined;
  return !hasTools && !hasFunctions && isPlain ? "answer" : "agent";
}

/** Returns how a cell is asked: a case with several messages, files or a recorded session needs a run of its own. */
export function getCellKind(kind: CellKind, { messages, files, fork }: SuiteCase): CellKind {
  const isOneRequest = messages.length === 1 && files === undefined && fork === undefined;
  return isOneRequest ? kind : "agent";
}
