import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { z } from "zod";
import { nearestName } from "../../../platform/text/nearest-name.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { PinnedTool } from "../../../schema/outside.ts";
import { MAX_SKILLS, type SkillSettings } from "../../../schema/skills.ts";
import { canonicalName } from "../../aliases.ts";
import { openRoot } from "../../workspace/confine.ts";
import { describeSystemError } from "../../workspace/system-error.ts";
import { OutsideError, type PinContext, type PinnedPart, type ToolSource } from "../source.ts";
import { allowing } from "./allowed-tools.ts";
import { hashOfSkill, SkillTooLarge, skillFiles } from "./files.ts";
import { type FoundSkills, findSkills, merged, type Skill } from "./find.ts";
import { skillFolder } from "./folder.ts";
import { skillProblemLine } from "./problem.ts";
import { skillsPrompt } from "./prompt.ts";
import { PinnedSkill, READ_SKILL_DESCRIPTION, READ_SKILL_SHAPE, readSkillTool } from "./read-skill.ts";

/** Of all skills of an agent together: a definition keeps the name and the hash of each. */
const MAX_FILES_OF_ALL = 2048;

/** The tool's name; the next where another tool of the agent has it. */
const READER_NAMES = ["read_skill", "load_skill", "open_skill"] as const;

const Data = z.strictObject({ skills: z.array(PinnedSkill) });

/** What the folders that an agent's definition names hold for it. */
export class SkillSource implements ToolSource {
  readonly kind = "skills";

  isAsked({ skills }: AgentDefinition): boolean {
    return skills !== undefined && skills.names?.length !== 0;
  }

  async pin(definition: AgentDefinition, context: PinContext): Promise<PinnedPart> {
    const { skills: settings } = definition;
    if (settings === undefined) return {};
    const { workspace, signal } = context;
    const all = await findSkills(settings.folders.map((folder) => skillFolder(folder, workspace)));
    const chosen = chosenSkills(all, settings, definition.strict);
    const { pinned, warnings } = await lookedThrough(chosen.skills, signal);
    const skills = pinned.map(({ skill }) => skill);
    const said = [...chosen.warnings, ...warnings];
    if (skills.length === 0) return { warnings: said };
    const reader = readerName(definition);
    const shell = definition.tools.map(canonicalName).find((name) => name === "bash");
    const allowed = settings.allowTools
      ? allowing(skills, {
          tools: definition.tools,
          otherwise: definition.permissions.otherwise,
          workspace: await realpath(workspace).catch(() => workspace),
        })
      : { rules: [], warnings: [] };
    return {
      tools: [
        readerOf(
          reader,
          pinned.map(({ pin }) => pin),
        ),
      ],
      prompt: skillsPrompt(skills, { reader, shell }),
      rules: [...allowed.rules],
      contents: Object.fromEntries(
        pinned.map(({ pin }) => [`The skill ${pin.name}`, hashOfSkill(pin.files)]),
      ),
      warnings: [...said, ...allowed.warnings],
    };
  }

  tool({ name, data }: PinnedTool) {
    return readSkillTool(name, Data.parse(data).skills);
  }
}

type Chosen = { readonly skills: readonly Skill[]; readonly warnings: readonly string[] };

function chosenSkills({ found, problems }: FoundSkills, { names }: SkillSettings, strict: boolean): Chosen {
  const all = merged(found.flatMap(({ skill }) => skill ?? []));
  const broken = found.filter(({ skill }) => skill === undefined);
  const left = broken.flatMap(({ problems: [first] }) =>
    first === undefined ? [] : [`A skill is left out: ${skillProblemLine(first)}`],
  );
  const unknown = (names ?? []).filter((name) => !all.some((skill) => skill.name === name));
  const missing = unknown.map((name) => describeUnknown(name, all));
  if (strict && missing.length > 0) throw new OutsideError([...missing, ...left, ...problems].join("; "));
  const wanted = names === undefined ? all : all.filter(({ name }) => names.includes(name));
  const many =
    wanted.length > MAX_SKILLS
      ? [`Of ${wanted.length} skills the first ${MAX_SKILLS} are offered; say which with skills.names`]
      : [];
  // Whoever names skills is not told of others.
  const warnings = [
    ...problems,
    ...missing,
    ...(names === undefined || missing.length > 0 ? left : []),
    ...many,
  ];
  return { skills: wanted.slice(0, MAX_SKILLS), warnings };
}

function describeUnknown(name: string, all: readonly Skill[]): string {
  const near = nearestName(
    name,
    all.map((skill) => skill.name),
  );
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : all.length === 0
        ? "the folders hold none"
        : `there are ${all.map((skill) => skill.name).join(", ")}`;
  return `Unknown skill "${name}": ${hint}`;
}

type LookedThrough = {
  readonly pinned: readonly { readonly skill: Skill; readonly pin: PinnedSkill }[];
  readonly warnings: readonly string[];
};

async function lookedThrough(skills: readonly Skill[], signal: AbortSignal): Promise<LookedThrough> {
  const pinned: { skill: Skill; pin: PinnedSkill }[] = [];
  const warnings: string[] = [];
  let room = MAX_FILES_OF_ALL;
  for (const skill of skills) {
    const { name, folder } = skill;
    try {
      const { files, refused } = await skillFiles(await openRoot(folder), signal);
      const [first] = refused;
      if (first !== undefined) {
        const more = refused.length === 1 ? "" : ` (and ${refused.length - 1} more)`;
        warnings.push(`Left out of the skill ${name}: ${first}${more}`);
      }
      room -= files.length;
      if (room < 0) throw new SkillTooLarge(`all skills together have more than ${MAX_FILES_OF_ALL} files`);
      pinned.push({ skill, pin: { name, folder, files: [...files] } });
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof SkillTooLarge ? error.message : describeSystemError(error);
      warnings.push(`The skill ${name} in ${folder} is left out: ${why}`);
    }
  }
  return { pinned, warnings };
}

function readerName({ tools, subAgents = [] }: AgentDefinition): string {
  const taken = [...tools.map(canonicalName), ...subAgents.map(({ name }) => name)];
  return READER_NAMES.find((name) => !taken.includes(name)) ?? READER_NAMES[0];
}

function readerOf(name: string, skills: readonly PinnedSkill[]): PinnedTool {
  const { $schema: _, ...parameters } = READ_SKILL_SHAPE as Record<string, unknown>;
  const shape = JSON.stringify([READ_SKILL_DESCRIPTION, parameters]);
  return {
    source: "skills",
    from: "skills",
    remote: "read_skill",
    name,
    description: READ_SKILL_DESCRIPTION,
    parameters,
    replay: "pure",
    // What the skills hold is told of each by itself.
    hash: createHash("sha256").update(shape).digest("hex"),
    data: { skills },
  };
}
