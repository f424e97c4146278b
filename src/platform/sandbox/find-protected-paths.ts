import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createPresenceCheck, type PresenceCheck } from "./presence.ts";

/**
 * Files of a workspace that programs outside of the sandbox run or obey without the user's doing: an agent that changes
 * one of them acts outside, later.
 */
const PROTECTED_NAMES = [
  // Git runs hooks, and commands that its configuration names.
  ".git/hooks",
  ".git/config",
  ".git/config.worktree",
  ".gitconfig",
  ".gitmodules",
  // Shells run these when they start.
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshenv",
  ".zshrc",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".config/fish",
  // Agents and editors start the servers and tasks that these name.
  ".mcp.json",
  ".holdfast",
  ".claude",
  ".cursor",
  ".vscode",
  ".idea",
  // Search programs take options from it, among them the name of a program.
  ".ripgreprc",
];

/** Files of agents in the folder itself, such as `agent.toml` and `review.agent.yaml`. */
const AGENT_FILE = /^(?:.+\.)?agent\.(?:toml|ya?ml|json)$/;

export type ProtectedPaths = {
  /** Exist, without a symbolic link on the way from the folder. */
  readonly protectedPaths: readonly string[];
  /**
   * Lead through a symbolic link, which nothing can be mounted on: protecting what it leads to would not keep a process
   * from replacing the link.
   */
  readonly links: readonly string[];
  /** Do not exist. A mount would create them, so a process in the sandbox can as well. */
  readonly missing: readonly string[];
};

/** Finds the paths of a folder that a sandbox must not let processes change. @param folder - Without symbolic links. */
export async function findProtectedPaths(folder: string): Promise<ProtectedPaths> {
  const names = [...PROTECTED_NAMES, ...(await findAgentFiles(folder)), ...(await findModulePaths(folder))];
  const mayExist = createPresenceCheck();
  const found = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), ...(await inspect(folder, name, mayExist)) })),
  );
  const list = (type: string) => found.filter((entry) => entry.type === type);
  return {
    protectedPaths: [...new Set(list("plain").map(({ path }) => path))],
    links: [...new Set(list("link").map(({ at, path }) => at ?? path))],
    missing: list("missing").map(({ path }) => path),
  };
}

/** Walks from the folder to the name, and stops at the first part that is not a folder. */
async function inspect(
  folder: string,
  name: string,
  mayExist: PresenceCheck,
): Promise<{ readonly type: "plain" | "link" | "missing"; readonly at?: string; readonly path?: string }> {
  let here = folder;
  const parts = name.split("/");
  for (const [index, part] of parts.entries()) {
    here = join(here, part);
    const facts = (await mayExist(here)) ? await lstat(here).catch(() => undefined) : undefined;
    if (facts === undefined) return { type: "missing" };
    if (facts.isSymbolicLink()) return { type: "link", at: here };
    // `.git` is a file in a worktree: it names the folder of the repository, and with it the hooks.
    if (!facts.isDirectory() || index === parts.length - 1) return { type: "plain", path: here };
  }
  return { type: "missing" };
}

async function findAgentFiles(folder: string): Promise<string[]> {
  return (await listFolder(folder)).filter((name) => AGENT_FILE.test(name));
}

/** Repositories of submodules have hooks and a configuration of their own. */
async function findModulePaths(folder: string): Promise<string[]> {
  const modules = await listFolder(join(folder, ".git/modules"));
  return modules.flatMap((name) => [`.git/modules/${name}/hooks`, `.git/modules/${name}/config`]);
}

async function listFolder(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
