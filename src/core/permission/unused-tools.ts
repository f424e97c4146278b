import { matchNameGlob } from "../../platform/text/glob.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { TOOL_ALIASES } from "../machine/tool-aliases.ts";

// Permission rules that name a tool which the agent does not have. They never apply, which is probably a mistake.

type Agent = Pick<
  AgentDefinition | AgentDefinitionInput,
  "tools" | "subAgents" | "mcp" | "openapi" | "skills"
>;
type Rule = { readonly tool?: string | readonly string[] | undefined };

/** Tools that a run adds by itself: for compacted messages, for skills, and by work mode. */
const ADDED_TOOLS = [
  "read_full_message",
  "finish_work",
  "sleep",
  "delegate",
  "check_agents",
  "wait_for_agents",
  "steer_agent",
  "stop_agent",
];
/** The names of the tool that reads skills: the first one that is free. */
const SKILL_TOOLS = ["read_skill", "load_skill", "open_skill"];

export type ToolNames = {
  readonly names: readonly string[];
  /** Beginnings of the names of tools that only their server or document lists. */
  readonly prefixes: readonly string[];
};

/** Lists the tools of an agent as far as its definition determines them. */
export function listToolNames({
  tools = [],
  subAgents = [],
  mcp = [],
  openapi = [],
  skills,
}: Agent): ToolNames {
  return {
    names: [
      ...tools.map((name) => TOOL_ALIASES[name] ?? name),
      ...subAgents.map(({ name }) => name),
      ...ADDED_TOOLS,
      ...(skills === undefined ? [] : SKILL_TOOLS),
    ],
    prefixes: [
      ...mcp.map(({ name, prefix = name }) => (prefix === "" ? "" : `${prefix}__`)),
      ...openapi.map(({ prefix }) => (prefix === undefined ? "" : `${prefix}__`)),
    ],
  };
}

/** Lists the names and globs of a rule's `tool` that match none of these tools. */
export function listUnusedTools({ tool = [] }: Rule, { names, prefixes }: ToolNames): readonly string[] {
  return [tool]
    .flat()
    .filter(
      (glob) =>
        !/^\*+$/.test(glob) &&
        !names.some((name) => matchNameGlob(glob, name)) &&
        !prefixes.some((prefix) => mayMatchPrefix(glob, prefix)),
    );
}

/** Checks whether a glob may match a name that begins with the prefix. */
function mayMatchPrefix(glob: string, prefix: string): boolean {
  const wildcard = glob.search(/[*?]/);
  const literal = wildcard < 0 ? glob : glob.slice(0, wildcard);
  return literal.startsWith(prefix) || (wildcard >= 0 && prefix.startsWith(literal));
}
