import { toCanonicalName } from "../../core/machine/tool-aliases.ts";
import { listToolNames, listUnusedTools, type ToolNames } from "../../core/permission/unused-tools.ts";
import { matchNameGlob } from "../../platform/text/glob.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { PermissionRule } from "../../schema/permission.ts";
import { formatPath, type Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import { findOrigin, type Origin } from "./draft.ts";
import { getAt } from "./table-paths.ts";

/** An agent of a file, and the origins of its values by path. */
type FileAgent = { readonly definition: AgentDefinition; readonly origins: ReadonlyMap<string, Origin> };

/** The rules of an agent or a sub-agent, which others may share. */
type RuleHolder = {
  readonly name: string;
  readonly rules: readonly PermissionRule[];
  readonly tools: ToolNames;
  /** The place of the rules in the file. */
  readonly path: Path;
};

/** Warns about permission rules for tools that are off: none of the agents to which the rule applies has the tool. */
export function warnUnusedRules(loader: AgentFileLoader, agents: readonly FileAgent[]): void {
  const sharing = new Map<string, RuleHolder[]>();
  for (const { definition, origins } of agents) {
    for (const holder of listHolders(definition, origins, [])) {
      const key = formatPath(holder.path);
      sharing.set(key, [...(sharing.get(key) ?? []), holder]);
    }
  }
  for (const holders of sharing.values()) {
    const { rules, path } = holders[0]!;
    for (const [index, rule] of rules.entries()) {
      const concerned = holders.filter(({ name }) => matchesAgent(rule.agent, name));
      const [first = [], ...others] = concerned.map(({ tools }) => listUnusedTools(rule, tools));
      const unused = first.filter((tool) => others.every((tools) => tools.includes(tool)));
      for (const tool of unused) warnUnusedTool(loader, [...path, index, "tool"], tool, concerned);
    }
  }
}

/** Lists an agent and its sub-agents, as far as their rules stand in the file. */
function listHolders(
  agent: AgentDefinition,
  origins: ReadonlyMap<string, Origin>,
  below: Path,
): readonly RuleHolder[] {
  const { name, permissions, subAgents = [] } = agent;
  const origin = findOrigin(origins, [...below, "permissions", "rules"]);
  const inner = subAgents.flatMap((child, index) =>
    listHolders(child.agent, origins, [...below, "subAgents", index, "agent"]),
  );
  if (origin?.type !== "file") return inner;
  return [{ name, rules: permissions.rules, tools: listToolNames(agent), path: origin.path }, ...inner];
}

function matchesAgent(globs: string | readonly string[] | undefined, name: string): boolean {
  return globs === undefined || [globs].flat().some((glob) => matchNameGlob(glob, name));
}

function warnUnusedTool(
  loader: AgentFileLoader,
  path: Path,
  tool: string,
  holders: readonly RuleHolder[],
): void {
  const written = getAt(loader.source.value, path);
  const names = holders.flatMap(({ tools }) => tools.names);
  const canonical = toCanonicalName(tool);
  const nearest = canonical === tool ? findNearestName(tool, names) : canonical;
  const advice =
    nearest === undefined
      ? "add the tool to `enabled` in `[tools]`, or remove the rule"
      : `did you mean "${nearest}"?`;
  loader.reportWarning(
    Array.isArray(written) ? [...path, written.indexOf(tool)] : path,
    `the tool "${tool}" is off, so this rule never applies; ${advice}`,
    { found: tool, expected: "a tool that the agent has", ...omitUndefined({ nearest }) },
  );
}
