import { offersReader } from "../../core/machine/tool-facts.ts";
import type { Shown } from "../../core/view/view.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { AgentDefinition, SubAgent } from "../../schema/definition.ts";
import { subAgentTool } from "../../tools/builtin/sub-agent.ts";
import type { Resolution, ToolRegistry } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";

type Offering = Pick<AgentDefinition, "tools" | "subAgents" | "pinned">;

/** All that an agent may call: the tools that it names, those of its sources outside, then its sub-agents. */
export function agentTools(
  definition: Offering,
  registry: Pick<ToolRegistry, "resolve" | "outside">,
  options: { readonly strict?: boolean } = {},
): Resolution {
  const { tools: names, subAgents = [] } = definition;
  const own = registry.resolve(names, options);
  if (!own.ok) return own;
  const resolved = { ...own, tools: [...own.tools, ...registry.outside.tools(definition)] };
  if (subAgents.length === 0) return resolved;
  const taken = subAgents.filter(({ name }, index) =>
    isTaken(name, resolved.tools, subAgents.slice(0, index)),
  );
  if (taken.length > 0) return { ok: false, errors: taken.map(taught) };
  return { ...resolved, tools: [...resolved.tools, ...subAgents.map(asTool)] };
}

/** For an agent whose loop is open: what was wrong was found then. */
export function toolsAtHand(definition: Offering, registry: ToolRegistry): readonly Tool[] {
  const offered = agentTools(definition, registry);
  return offered.ok ? offered.tools : [];
}

/** The same with the tool that reads what a view leaves out, where one does. */
export function toolsFor(
  definition: Offering,
  registry: ToolRegistry,
  shown: readonly Shown[],
): readonly Tool[] {
  const tools = toolsAtHand(definition, registry);
  if (!offersReader(shown) || tools.some(({ name }) => name === READ_FULL_TOOL)) return tools;
  return [...tools, ...readers(registry)];
}

/** All that a call may mean, whatever the view was that it was made with. */
export function toolsToRead(definition: Offering, registry: ToolRegistry): readonly Tool[] {
  return [...toolsAtHand(definition, registry), ...readers(registry)];
}

function readers(registry: ToolRegistry): readonly Tool[] {
  const reader = registry.get(READ_FULL_TOOL);
  return reader === undefined ? [] : [reader];
}

/** By the name of a call: an agent's own before what the worker happens to have under the same name. */
export function toolCalled(
  name: string,
  definition: Offering,
  registry: Pick<ToolRegistry, "get" | "outside">,
): Tool | undefined {
  return registry.outside.tool(name, definition) ?? registry.get(name);
}

/** A definition keeps its sub-agents as long as it is kept itself. */
const known = new WeakMap<SubAgent, Tool>();

function asTool(agent: SubAgent): Tool {
  const before = known.get(agent);
  if (before !== undefined) return before;
  const tool = subAgentTool(agent);
  known.set(agent, tool);
  return tool;
}

function isTaken(name: string, tools: readonly Tool[], others: readonly SubAgent[]): boolean {
  return tools.some((tool) => tool.name === name) || others.some((other) => other.name === name);
}

function taught({ name }: SubAgent): string {
  return `The sub-agent "${name}" has the name of a tool or of another sub-agent: choose another one`;
}
