/** Names from other agents by which models know the built-in tools. Tools of an application declare their own aliases. */
export const BUILT_IN_ALIASES: Readonly<Record<string, readonly string[]>> = {
  bash: ["shell", "terminal", "run_command", "execute_command", "run_shell_command"],
  read_file: ["read", "cat", "view", "view_file", "open_file"],
  write_file: ["write", "create_file", "save_file"],
  edit_file: ["edit", "str_replace", "replace_in_file"],
  list_files: ["ls", "list", "list_dir", "list_directory"],
  search: ["grep", "rg", "ripgrep", "search_files", "grep_search"],
};
