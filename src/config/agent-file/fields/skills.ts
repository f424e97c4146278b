import { DEFAULT_SKILL_FOLDERS, SkillSettings } from "../../../schema/skills.ts";
import { type Field, field, said } from "../field.ts";

// What an agent may read to learn how a task is done: [skills], docs/skills.md.

const { folders, names, allowTools } = SkillSettings.shape;

export const SKILL_FIELDS: readonly Field[] = [
  field(
    "skills.folders",
    "skills.folders",
    said(
      folders.unwrap(),
      "Folders of skills: absolute, below `~`, or relative to the workspace. Of two skills of one name that of the later folder counts.",
      DEFAULT_SKILL_FOLDERS,
    ),
  ),
  field("skills.names", "skills.names", said(names.unwrap(), "These alone; all of the folders unless said.")),
  field(
    "skills.allow_tools",
    "skills.allowTools",
    said(
      allowTools.unwrap(),
      "What skills name in `allowed-tools` is allowed behind the rules of [permissions].",
      false,
    ),
  ),
];
