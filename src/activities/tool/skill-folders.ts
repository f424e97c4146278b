import { realpath, stat } from "node:fs/promises";
import { isWithin } from "../../platform/sandbox/sandbox-plan.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { resolveSkillFolder } from "../../tools/sources/skills/resolve-skill-folder.ts";

/**
 * Finds the folders of an agent's skills, whose scripts its commands run. Those in the workspace are left out: the sandbox
 * contains them already, and there they may be written.
 */
export async function findSkillFolders(
  { skills }: Pick<AgentDefinition, "skills">,
  workspace: string,
): Promise<readonly string[]> {
  const place = await realpath(workspace).catch(() => workspace);
  const folders = (skills?.folders ?? []).map((folder) => resolveSkillFolder(folder, workspace));
  const found = await Promise.all(
    folders.map(async (folder) => {
      const path = await realpath(folder).catch(() => undefined);
      if (path === undefined || isWithin(path, place)) return [];
      return (await stat(path)).isDirectory() ? [path] : [];
    }),
  );
  return [...new Set(found.flat())];
}
