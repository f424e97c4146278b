/** A skill as a prompt lists it. */
export type ListedSkill = {
  readonly name: string;
  readonly description: string;
  /** The absolute path of its SKILL.md. */
  readonly file: string;
};

export type PromptTools = {
  /** The tool that reads skills. */
  readonly reader: string;
  /** The agent's shell, if it has one. */
  readonly shell: string | undefined;
};

/** Formats the block of skills, sorted by name (SKL-05). Empty without skills. */
export function formatSkillsBlock(skills: readonly ListedSkill[]): string {
  if (skills.length === 0) return "";
  const sorted = [...skills].sort((a, b) => (a.name < b.name ? -1 : 1));
  return ["<available_skills>", ...sorted.flatMap(formatSkill), "</available_skills>"].join("\n");
}

/** Formats the block, with instructions for its use. */
export function formatSkillsPrompt(skills: readonly ListedSkill[], { reader, shell }: PromptTools): string {
  const block = formatSkillsBlock(skills);
  if (block === "") return "";
  const scripts =
    shell === undefined
      ? "You have no shell, so you cannot run scripts of skills."
      : `Run their scripts with ${shell}, by their full paths. A script needs the same permissions as any other command.`;
  return [
    `Skills describe how to do certain tasks. When a task matches the description of a skill, load the skill with ${reader} before you begin, and follow it.`,
    `When a skill refers to other files in its folder, load them with ${reader} and their path. ${scripts}`,
    block,
  ].join("\n");
}

function formatSkill({ name, description, file }: ListedSkill): readonly string[] {
  return [
    "  <skill>",
    `    <name>${escapeXml(name)}</name>`,
    `    <description>${escapeXml(description)}</description>`,
    `    <location>${escapeXml(file)}</location>`,
    "  </skill>",
  ];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ENTITIES[letter]!);
}
