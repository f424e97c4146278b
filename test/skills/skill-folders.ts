import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";
import { SkillSource } from "../../src/tools/sources/skills/skill-source.ts";
import type { PinContext } from "../../src/tools/sources/tool-source.ts";

/** A valid SKILL.md. */
export function formatSkill(
  name: string,
  overrides: { description?: string; head?: string; body?: string } = {},
): string {
  const { description = `Does ${name}.`, head = "", body = `# How to ${name}` } = overrides;
  return `---\nname: ${name}\ndescription: ${description}\n${head}---\n\n${body}\n`;
}

/** Files below a folder, by path. */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

export function createDefinition(input: Partial<AgentDefinitionInput> = {}): AgentDefinition {
  return AgentDefinition.parse({
    model: {
      id: "m",
      api: "anthropic_messages",
      provider: "p",
      baseUrl: "http://localhost",
      contextWindow: 1000,
    },
    ...input,
  });
}

export function pinSkills(
  input: Partial<AgentDefinitionInput>,
  workspace: string,
  overrides: Partial<PinContext> = {},
) {
  const log = { info: () => {}, warn: () => {} };
  const { signal } = new AbortController();
  return new SkillSource().pin(createDefinition(input), {
    getSecret: () => undefined,
    workspace,
    signal,
    log,
    ...overrides,
  });
}

/** The tool of a pinned part, as in a run. */
export async function createReader(folders: readonly string[], workspace: string) {
  const { tools = [] } = await pinSkills({ skills: { folders: [...folders] } }, workspace);
  return new SkillSource().createTool(JSON.parse(JSON.stringify(tools[0])));
}
