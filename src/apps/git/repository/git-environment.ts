/**
 * The environment of every git process: nothing of this process's own but PATH. Git asks nobody, reaches no network,
 * writes no index on the way, and reads no configuration of the system or the user.
 *
 * @param folder - An empty home.
 */
export function buildGitEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: folder,
    LC_ALL: "C",
    TERM: "dumb",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    // A path that a model names is a path, never a pattern.
    GIT_LITERAL_PATHSPECS: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS: "false",
    GIT_SSH_COMMAND: "false",
    GIT_EDITOR: "false",
    GIT_PAGER: "cat",
  };
}
