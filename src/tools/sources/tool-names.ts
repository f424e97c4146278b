import { createHash } from "node:crypto";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { PinnedTool } from "../../schema/tool-source.ts";
import { toCanonicalName } from "../aliases.ts";
import { RESERVED_TOOL_NAMES } from "../tool.ts";

const MAX_NAME_CHARS = 64;

/** A name that vendors take, made of any name: letters, digits, `_` and `-`, at most 64. The same for the same. */
export function toToolName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_") || "tool";
  if (clean.length <= MAX_NAME_CHARS) return clean;
  const mark = `_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
  return clean.slice(0, MAX_NAME_CHARS - mark.length) + mark;
}

/**
 * Gives each tool a name that fits and that no other tool of the agent has, in their order.
 *
 * @param taken - Names that are spoken for.
 */
export function assignToolNames(
  tools: readonly PinnedTool[],
  taken: readonly string[],
): readonly PinnedTool[] {
  const names = new Set<string>([...taken, ...RESERVED_TOOL_NAMES, READ_FULL_TOOL]);
  return tools.map((tool) => {
    const name = findFreeName(toToolName(tool.name), names);
    names.add(name);
    return name === tool.name ? tool : { ...tool, name };
  });
}

function findFreeName(wanted: string, names: ReadonlySet<string>): string {
  let name = wanted;
  // An alias of a built-in tool would be taken for that one.
  for (let number = 2; names.has(name) || toCanonicalName(name) !== name; number += 1) {
    const mark = `_${number}`;
    name = wanted.slice(0, MAX_NAME_CHARS - mark.length) + mark;
  }
  return name;
}
