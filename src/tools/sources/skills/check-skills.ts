import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openRoot } from "../../workspace/workspace-access.ts";
import { type FoundSkill, findSkillsInFolder, loadSkill, SKILL_FILE } from "./find-skills.ts";
import { describeReadError, listSkillFiles, SkillTooLargeError } from "./skill-files.ts";
import type { SkillProblem } from "./skill-problem.ts";

export type CheckedSkills = {
  /** The skills with all their problems, including those of their files. */
  readonly skills: readonly FoundSkill[];
  /** Problems of the folder itself, one sentence each. */
  readonly problems: readonly string[];
};

/** Finds all problems in a folder of skills, or in the folder of one skill, by the format of agentskills.io (strict). */
export async function checkSkills(folder: string): Promise<CheckedSkills> {
  const isSkill = await stat(join(folder, SKILL_FILE)).then(
    () => true,
    () => false,
  );
  const { found, problems } = isSkill
    ? { found: [await loadSkill(folder, folder)], problems: [] }
    : await findSkillsInFolder(folder, folder);
  return { skills: await Promise.all(found.map(checkFiles)), problems };
}

async function checkFiles(found: FoundSkill): Promise<FoundSkill> {
  if (found.skill === undefined) return found;
  const { folder } = found.skill;
  try {
    const { rejected } = await listSkillFiles(await openRoot(folder));
    const warnings = rejected.map((message) => createProblem("warning", folder, `skipped: ${message}`));
    return { ...found, problems: [...found.problems, ...warnings] };
  } catch (error) {
    const reason = error instanceof SkillTooLargeError ? error.message : describeReadError(error);
    return { ...found, problems: [...found.problems, createProblem("error", folder, reason)] };
  }
}

function createProblem(severity: SkillProblem["severity"], file: string, message: string): SkillProblem {
  return { fault: "unusable-file", severity, file, message };
}
