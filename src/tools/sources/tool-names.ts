import { createHash } from "node:crypto";
import { toCanonicalName } from "../../core/machine/tool-aliases.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { PinnedTool } from "../../schema/tool-source.ts";
import { RESERVED_TOOL_NAMES } from "../tool.ts";

const MAX_NAME_CHARS = 64;

/** Converts any name to one that vendors accept: letters, digits, `_` and `-`, at most 64. Deterministic. */
export function toToolName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_") || "tool";
  if (clean.length <= MAX_NAME_CHARS) return clean;
  const mark = `_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
  return clean.slice(0, MAX_NAME_CHARS - mark.length) + mark;
}

/**
 * Gives each tool, in order, a valid name that no other tool of the agent has.
 *
 * @param taken - Names that are in use.
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
  // A model that uses an alias of a built-in tool means that tool.
  for (let number = 2; names.has(name) || toCanonicalName(name) !== name; number += 1) {
    const mark = `_${number}`;
    name = wanted.slice(0, MAX_NAME_CHARS - mark.length) + mark;
  }
  return name;
}
