/** What a prompt says of a skill. */
export type ListedSkill = {
  readonly name: string;
  readonly description: string;
  /** Its SKILL.md. Absolute. */
  readonly file: string;
};

export type PromptTools = {
  /** Reads skills. */
  readonly reader: string;
  /** The agent's shell, where it has one. */
  readonly shell: string | undefined;
};

/** SKL-05: sorted by name; nothing where there are none. */
export function formatSkillsBlock(skills: readonly ListedSkill[]): string {
  if (skills.length === 0) return "";
  const sorted = [...skills].sort((a, b) => (a.name < b.name ? -1 : 1));
  return ["<available_skills>", ...sorted.flatMap(formatSkill), "</available_skills>"].join("\n");
}

/** The block, and what to do with it. */
export function formatSkillsPrompt(skills: readonly ListedSkill[], { reader, shell }: PromptTools): string {
  const block = formatSkillsBlock(skills);
  if (block === "") return "";
  const scripts =
    shell === undefined
      ? "You have no shell, so scripts of skills cannot be run."
      : `Run their scripts with ${shell}, by full paths; a script is judged like any other command.`;
  return [
    `Skills say how certain tasks are done. When a task fits the description of one, load it with ${reader} before you begin, and follow it.`,
    `Load other files of its folder, where it speaks of them, with ${reader} and their path. ${scripts}`,
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
