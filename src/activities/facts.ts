import { resolve } from "node:path";
import { boundFacts, type CallFacts } from "../core/call-facts.ts";
import type { PermissionPolicy } from "../schema/permission.ts";
import { pathFacts } from "../tools/path-facts.ts";
import { commandFacts } from "../tools/shell-facts.ts";
import type { Tool } from "../tools/tool.ts";

/**
 * What the policy must know of a call before it is decided on; nothing for calls that it decides on by name alone, so
 * that history does not carry what nobody reads.
 */
export async function factsOf(
  tool: Tool,
  value: unknown,
  policy: PermissionPolicy,
  workspace: string,
): Promise<CallFacts | undefined> {
  if (!isJudged(tool, policy)) return undefined;
  const { command, paths, cwd = "." } = tool.touches(value);
  if (command === undefined && paths === undefined) return undefined;
  const ofCommand =
    command === undefined ? {} : await commandFacts(command, workspace, resolve(workspace, cwd));
  const ofPaths = paths === undefined ? {} : await pathFacts(paths, workspace);
  const all = [...(ofCommand.paths ?? []), ...(ofPaths.paths ?? [])];
  return boundFacts({ ...ofCommand, ...ofPaths, ...(all.length === 0 ? {} : { paths: all }) });
}

function isJudged(tool: Tool, { rules, otherwise }: PermissionPolicy): boolean {
  if (rules.length > 0 || otherwise === "ask" || tool.confirm) return true;
  return otherwise === "ask-unsafe" && tool.replay === "unsafe";
}
