import { offersReadFullTool } from "../../core/machine/tool-facts.ts";
import type { SpanFormat } from "../../core/view/view.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { AgentDefinition, SubAgent } from "../../schema/definition.ts";
import { createSubAgentTool } from "../../tools/builtin/sub-agent-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolRegistry, ToolResolution } from "../../tools/tool-registry.ts";

type ToolSelection = Pick<AgentDefinition, "tools" | "subAgents" | "pinned">;

/**
 * Returns all tools that an agent may call: the tools that it names, those of its tool sources, then its sub-agents.
 */
export function resolveAgentTools(
  definition: ToolSelection,
  registry: Pick<ToolRegistry, "resolve" | "sources">,
  options: { readonly strict?: boolean } = {},
): ToolResolution {
  const { tools: names, subAgents = [] } = definition;
  const own = registry.resolve(names, options);
  if (!own.ok) return own;
  const resolved = { ...own, tools: [...own.tools, ...registry.sources.getTools(definition)] };
  if (subAgents.length === 0) return resolved;
  const taken = subAgents.filter(({ name }, index) =>
    isNameTaken(name, resolved.tools, subAgents.slice(0, index)),
  );
  if (taken.length > 0) return { ok: false, errors: taken.map(formatDescription) };
  return { ...resolved, tools: [...resolved.tools, ...subAgents.map(toTool)] };
}

/** Returns the tools of an agent whose loop is open. Problems were found when the loop was opened. */
export function getAvailableTools(definition: ToolSelection, registry: ToolRegistry): readonly Tool[] {
  const offered = resolveAgentTools(definition, registry);
  return offered.ok ? offered.tools : [];
}

/** Returns the same tools, and the tool that reads what a view leaves out, if the view leaves anything out. */
export function getToolsForView(
  definition: ToolSelection,
  registry: ToolRegistry,
  shown: readonly SpanFormat[],
): readonly Tool[] {
  const tools = getAvailableTools(definition, registry);
  if (!offersReadFullTool(shown) || tools.some(({ name }) => name === READ_FULL_TOOL)) return tools;
  return [...tools, ...listReadFullTools(registry)];
}

/** Returns all tools that a call may refer to, whatever view it was made with. */
export function getToolsForParsing(definition: ToolSelection, registry: ToolRegistry): readonly Tool[] {
  return [...getAvailableTools(definition, registry), ...listReadFullTools(registry)];
}

function listReadFullTools(registry: ToolRegistry): readonly Tool[] {
  const reader = registry.get(READ_FULL_TOOL);
  return reader === undefined ? [] : [reader];
}

/** Finds a tool by the name in a call. An agent's own tools come before the worker's tools of the same name. */
export function findTool(
  name: string,
  definition: ToolSelection,
  registry: Pick<ToolRegistry, "get" | "sources">,
): Tool | undefined {
  return registry.sources.getTool(name, definition) ?? registry.get(name);
}

/** Caches tools by sub-agent, which live as long as their definition. */
const toolByAgent = new WeakMap<SubAgent, Tool>();

function toTool(agent: SubAgent): Tool {
  const before = toolByAgent.get(agent);
  if (before !== undefined) return before;
  const tool = createSubAgentTool(agent);
  toolByAgent.set(agent, tool);
  return tool;
}

function isNameTaken(name: string, tools: readonly Tool[], others: readonly SubAgent[]): boolean {
  return tools.some((tool) => tool.name === name) || others.some((other) => other.name === name);
}

function formatDescription({ name }: SubAgent): string {
  return `The sub-agent "${name}" has the name of a tool or of another sub-agent: choose another name`;
}
