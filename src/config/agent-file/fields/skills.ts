import { DEFAULT_SKILL_FOLDERS, SkillSettings } from "../../../schema/skills.ts";
import { defineField, describeKey, type Field } from "../define-field.ts";

// The section [skills]: instructions that an agent can read for a task. See docs/skills.md.

const { folders, names, allowTools } = SkillSettings.shape;

export const SKILL_FIELDS: readonly Field[] = [
  defineField(
    "skills.folders",
    "skills.folders",
    describeKey(
      folders.unwrap(),
      "Folders of skills: absolute, below `~`, or relative to the workspace. If two skills have the same name, the one in the later folder is used.",
      DEFAULT_SKILL_FOLDERS,
    ),
  ),
  defineField(
    "skills.names",
    "skills.names",
    describeKey(names.unwrap(), "Only these skills; by default all skills of the folders."),
  ),
  defineField(
    "skills.allow_tools",
    "skills.allowTools",
    describeKey(
      allowTools.unwrap(),
      "Allows the tools that skills list in `allowed-tools`, after the rules of [permissions].",
      false,
    ),
  ),
];
