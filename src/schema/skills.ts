import { z } from "zod";

// What an agent has of skills: folders with a SKILL.md, in the form of agentskills.io. Their words are read where a loop
// opens; see docs/skills.md.

const MAX_FOLDERS = 16;
/** Each costs about 100 tokens of every request. */
export const MAX_SKILLS = 128;

export const DEFAULT_SKILL_FOLDERS: readonly string[] = ["~/.holdfast/skills"];

export const SkillSettings = z.strictObject({
  /**
   * Folders of skills, on the worker's host: absolute, below `~`, or relative to the workspace. Of two skills of one name
   * the one in the later folder counts; a folder that is not there is passed over.
   */
  folders: z
    .array(z.string().min(1))
    .max(MAX_FOLDERS)
    .default(() => [...DEFAULT_SKILL_FOLDERS]),
  /** These alone; all that the folders hold when absent. An unknown one is left out with a warning (`strict`: an error). */
  names: z.array(z.string().min(1)).max(MAX_SKILLS).optional(),
  /**
   * What the skills name in `allowed-tools` becomes `allow` rules behind the definition's own. Off unless said: a skill is
   * somebody else's text.
   */
  allowTools: z.boolean().default(false),
});
export type SkillSettings = z.infer<typeof SkillSettings>;
