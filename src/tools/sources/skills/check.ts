import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openRoot } from "../../workspace/confine.ts";
import { SkillTooLarge, skillFiles, whyNot } from "./files.ts";
import { type FoundSkill, SKILL_FILE, skillAt, skillsIn } from "./find.ts";
import type { SkillProblem } from "./problem.ts";

export type CheckedSkills = {
  /** With all that is wrong with each, its files included. */
  readonly skills: readonly FoundSkill[];
  /** What is wrong with the folder itself, a sentence each. */
  readonly problems: readonly string[];
};

/** All that is wrong in a folder of skills, or in the folder of one, by the form of agentskills.io (strict). */
export async function checkSkills(folder: string): Promise<CheckedSkills> {
  const isSkill = await stat(join(folder, SKILL_FILE)).then(
    () => true,
    () => false,
  );
  const { found, problems } = isSkill
    ? { found: [await skillAt(folder, folder)], problems: [] }
    : await skillsIn(folder, folder);
  return { skills: await Promise.all(found.map(withFiles)), problems };
}

async function withFiles(found: FoundSkill): Promise<FoundSkill> {
  if (found.skill === undefined) return found;
  const { folder } = found.skill;
  try {
    const { refused } = await skillFiles(await openRoot(folder));
    const left = refused.map((words) => problem("warning", folder, `left out: ${words}`));
    return { ...found, problems: [...found.problems, ...left] };
  } catch (error) {
    const why = error instanceof SkillTooLarge ? error.message : whyNot(error);
    return { ...found, problems: [...found.problems, problem("error", folder, why)] };
  }
}

function problem(severity: SkillProblem["severity"], file: string, message: string): SkillProblem {
  return { fault: "unusable-file", severity, file, message };
}
