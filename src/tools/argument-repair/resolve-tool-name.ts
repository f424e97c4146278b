import { TOOL_ALIASES } from "../../core/machine/tool-aliases.ts";
import { BUILT_IN_ALIASES } from "../aliases.ts";
import type { Tool } from "../tool.ts";

/** Finds the tool with exactly this name, or the only tool that matches by case, separators or alias. */
export function resolveToolName(name: string, tools: readonly Tool[]): Tool | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact !== undefined) return exact;
  const normalised = normaliseName(name);
  if (normalised === "") return undefined;
  const fitting = tools.filter((tool) =>
    listNames(tool).some((known) => normaliseName(known) === normalised),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function listNames({ name, aliases = [] }: Tool): readonly string[] {
  const builtIn = Object.hasOwn(BUILT_IN_ALIASES, name) ? BUILT_IN_ALIASES[name]! : [];
  const configured = Object.keys(TOOL_ALIASES).filter((alias) => TOOL_ALIASES[alias] === name);
  return [name, ...aliases, ...builtIn, ...configured];
}

function normaliseName(name: string): string {
  return name.replace(/[-_ .]/g, "").toLowerCase();
}
