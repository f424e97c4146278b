import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The folder that an author means: `~` is the home of whoever runs this, and a relative one lies in the workspace. */
export function skillFolder(said: string, workspace: string, home = homedir()): string {
  if (said === "~") return home;
  return said.startsWith("~/") ? join(home, said.slice(2)) : resolve(workspace, said);
}
