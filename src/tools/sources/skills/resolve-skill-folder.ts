import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Resolves the folder in a definition: `~` is the home of the current user, and a relative path starts at the workspace. */
export function resolveSkillFolder(folder: string, workspace: string, home = homedir()): string {
  if (folder === "~") return home;
  return folder.startsWith("~/") ? join(home, folder.slice(2)) : resolve(workspace, folder);
}
