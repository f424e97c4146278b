/** Names that configuration files use for tools of another name. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  file_read: "read_file",
  file_write: "write_file",
};

export function canonicalName(name: string): string {
  return Object.hasOwn(TOOL_ALIASES, name) ? TOOL_ALIASES[name]! : name;
}
