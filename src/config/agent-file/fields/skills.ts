import { DEFAULT_SKILL_FOLDERS, SkillSettings } from "../../../schema/skills.ts";
import { defineField, describeKey, type Field } from "../define-field.ts";

// What an agent may read to learn how a task is done: [skills], docs/skills.md.

const { folders, names, allowTools } = SkillSettings.shape;

export const SKILL_FIELDS: readonly Field[] = [
  defineField(
    "skills.folders",
    "skills.folders",
    describeKey(
      folders.unwrap(),
      "Folders of skills: absolute, below `~`, or relative to the workspace. Of two skills of one name that of the later folder counts.",
      DEFAULT_SKILL_FOLDERS,
    ),
  ),
  defineField(
    "skills.names",
    "skills.names",
    describeKey(names.unwrap(), "These alone; all of the folders unless said."),
  ),
  defineField(
    "skills.allow_tools",
    "skills.allowTools",
    describeKey(
      allowTools.unwrap(),
      "What skills name in `allowed-tools` is allowed behind the rules of [permissions].",
      false,
    ),
  ),
];
