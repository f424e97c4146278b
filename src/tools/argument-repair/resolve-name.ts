import { TOOL_ALIASES } from "../../core/machine/tool-aliases.ts";
import { CALL_ALIASES } from "../aliases.ts";
import type { Tool } from "../tool.ts";

/** The tool of exactly this name; else the only one that the name fits but for case, separators or an alias. */
export function resolveName(name: string, tools: readonly Tool[]): Tool | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact !== undefined) return exact;
  const asked = bare(name);
  if (asked === "") return undefined;
  const fitting = tools.filter((tool) => namesOf(tool).some((known) => bare(known) === asked));
  return fitting.length === 1 ? fitting[0] : undefined;
}

function namesOf({ name, aliases = [] }: Tool): readonly string[] {
  const builtIn = Object.hasOwn(CALL_ALIASES, name) ? CALL_ALIASES[name]! : [];
  const configured = Object.keys(TOOL_ALIASES).filter((alias) => TOOL_ALIASES[alias] === name);
  return [name, ...aliases, ...builtIn, ...configured];
}

function bare(name: string): string {
  return name.replace(/[-_ .]/g, "").toLowerCase();
}
