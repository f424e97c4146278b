import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The folder that an author means: `~` is the home of whoever runs this, and a relative one lies in the workspace. */
export function resolveSkillFolder(folder: string, workspace: string, home = homedir()): string {
  if (folder === "~") return home;
  return folder.startsWith("~/") ? join(home, folder.slice(2)) : resolve(workspace, folder);
}
