import { z } from "zod";

// The skills of an agent: folders with a SKILL.md, in the format of agentskills.io. They are read when a
// loop opens; see docs/skills.md.

const MAX_FOLDERS = 16;
/** Each skill costs about 100 tokens of every request. */
export const MAX_SKILLS = 128;

export const DEFAULT_SKILL_FOLDERS: readonly string[] = ["~/.holdfast/skills"];

/** Which skills an agent has, and what they may do. */
export const SkillSettings = z.strictObject({
  folders: z
    .array(z.string().min(1))
    .max(MAX_FOLDERS)
    .default(() => [...DEFAULT_SKILL_FOLDERS])
    .describe(
      "Folders of skills on the worker's host: absolute, below `~`, or relative to the workspace. If two skills have the same name, the one in the later folder is used; a missing folder is ignored.",
    ),
  names: z
    .array(z.string().min(1))
    .max(MAX_SKILLS)
    .optional()
    .describe(
      "Only these skills; all in the folders by default. An unknown one is ignored with a warning (`strict`: an error).",
    ),
  allowTools: z
    .boolean()
    .default(false)
    .describe(
      "Adds `allow` rules for the skills' `allowed-tools` after the definition's own rules. Off by default, because skills are written by others.",
    ),
});
export type SkillSettings = z.infer<typeof SkillSettings>;
