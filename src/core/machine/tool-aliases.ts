/** Names that configuration files use for tools of another name. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  file_read: "read_file",
  file_write: "write_file",
};
