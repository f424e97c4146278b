import { matchNameGlob } from "../../platform/text/glob.ts";
import type { AgentDefinition, AgentDefinitionInput } from "../../schema/definition.ts";
import { LEAD_TOOLS, PACING_TOOLS, SKILL_READER_NAMES } from "../machine/added-tools.ts";
import { toCanonicalName } from "../machine/tool-aliases.ts";
import { READ_FULL_TOOL } from "../view/view-request.ts";

// Permission rules that name a tool which the agent does not have. They never apply, which is probably a mistake.

type Agent = Pick<
  AgentDefinition | AgentDefinitionInput,
  "tools" | "subAgents" | "mcp" | "openapi" | "skills"
>;
type Rule = { readonly tool?: string | readonly string[] | undefined };

/** Tools that a run adds by itself: for compacted messages and by work mode. */
const ADDED_TOOLS: readonly string[] = [READ_FULL_TOOL, ...PACING_TOOLS, ...LEAD_TOOLS];

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
      ...tools.map(toCanonicalName),
      ...subAgents.map(({ name }) => name),
      ...ADDED_TOOLS,
      ...(skills === undefined ? [] : SKILL_READER_NAMES),
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
