/** Names in configuration files that stand for a tool with another name. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  file_read: "read_file",
  file_write: "write_file",
};

/** Returns the tool's own name. */
export function toCanonicalName(name: string): string {
  return Object.hasOwn(TOOL_ALIASES, name) ? TOOL_ALIASES[name]! : name;
}
