import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { z } from "zod";
import { SKILL_READER_NAMES } from "../../../core/machine/added-tools.ts";
import { toCanonicalName } from "../../../core/machine/tool-aliases.ts";
import { findNearestName } from "../../../platform/text/nearest-name.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import { MAX_SKILLS, type SkillSettings } from "../../../schema/skills.ts";
import type { PinnedTool } from "../../../schema/tool-source.ts";
import { describeSystemError } from "../../workspace/system-error.ts";
import { openRoot } from "../../workspace/workspace-access.ts";
import { type PinContext, type SourcePin, type ToolSource, ToolSourceError } from "../tool-source.ts";
import { buildAllowRules } from "./allow-rules.ts";
import { type FoundSkills, findSkills, mergeSkills, type Skill } from "./find-skills.ts";
import {
  createReadSkillTool,
  PinnedSkill,
  READ_SKILL_DESCRIPTION,
  READ_SKILL_PARAMETERS,
} from "./read-skill-tool.ts";
import { resolveSkillFolder } from "./resolve-skill-folder.ts";
import { hashSkill, listSkillFiles, SkillTooLargeError } from "./skill-files.ts";
import { formatSkillProblem } from "./skill-problem.ts";
import { formatSkillsPrompt } from "./skills-prompt.ts";

/** The limit for all skills of an agent together: a definition stores the name and the hash of each file. */
const MAX_TOTAL_FILES = 2048;

const PinnedData = z.strictObject({ skills: z.array(PinnedSkill) });

/** Provides the skills from the folders that an agent's definition names. */
export class SkillSource implements ToolSource {
  readonly kind = "skills";

  isUsedBy({ skills }: AgentDefinition): boolean {
    return skills !== undefined && skills.names?.length !== 0;
  }

  async pin(definition: AgentDefinition, context: PinContext): Promise<SourcePin> {
    const { skills: settings } = definition;
    if (settings === undefined) return {};
    const { workspace, signal } = context;
    const all = await findSkills(settings.folders.map((folder) => resolveSkillFolder(folder, workspace)));
    const chosen = selectSkills(all, settings, definition.strict);
    const { pinned, warnings } = await pinSkills(chosen.skills, signal);
    const skills = pinned.map(({ skill }) => skill);
    const problems = [...chosen.warnings, ...warnings];
    if (skills.length === 0) return { warnings: problems };
    const reader = chooseReaderName(definition);
    const shell = definition.tools.map(toCanonicalName).find((name) => name === "bash");
    const allowed = settings.allowTools
      ? buildAllowRules(skills, {
          tools: definition.tools,
          otherwise: definition.permissions.otherwise,
          workspace: await realpath(workspace).catch(() => workspace),
        })
      : { rules: [], warnings: [] };
    return {
      tools: [
        pinReader(
          reader,
          pinned.map(({ pin }) => pin),
        ),
      ],
      prompt: formatSkillsPrompt(skills, { reader, shell }),
      rules: [...allowed.rules],
      contents: Object.fromEntries(pinned.map(({ pin }) => [`The skill ${pin.name}`, hashSkill(pin.files)])),
      warnings: [...problems, ...allowed.warnings],
    };
  }

  createTool({ name, data }: PinnedTool) {
    return createReadSkillTool(name, PinnedData.parse(data).skills);
  }
}

type SelectedSkills = { readonly skills: readonly Skill[]; readonly warnings: readonly string[] };

function selectSkills(
  { found, problems }: FoundSkills,
  { names }: SkillSettings,
  strict: boolean,
): SelectedSkills {
  const all = mergeSkills(found.flatMap(({ skill }) => skill ?? []));
  const broken = found.filter(({ skill }) => skill === undefined);
  const skipped = broken.flatMap(({ problems: [first] }) =>
    first === undefined ? [] : [`A skill was skipped: ${formatSkillProblem(first)}`],
  );
  const unknown = (names ?? []).filter((name) => !all.some((skill) => skill.name === name));
  const missing = unknown.map((name) => describeUnknown(name, all));
  if (strict && missing.length > 0)
    throw new ToolSourceError([...missing, ...skipped, ...problems].join("; "));
  const wanted = names === undefined ? all : all.filter(({ name }) => names.includes(name));
  const many =
    wanted.length > MAX_SKILLS
      ? [
          `Only the first ${MAX_SKILLS} of ${wanted.length} skills are offered; select skills with skills.names`,
        ]
      : [];
  // If the definition names skills, problems of other skills are not reported.
  const warnings = [
    ...problems,
    ...missing,
    ...(names === undefined || missing.length > 0 ? skipped : []),
    ...many,
  ];
  return { skills: wanted.slice(0, MAX_SKILLS), warnings };
}

function describeUnknown(name: string, all: readonly Skill[]): string {
  const near = findNearestName(
    name,
    all.map((skill) => skill.name),
  );
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : all.length === 0
        ? "the folders contain no skills"
        : `the skills are ${all.map((skill) => skill.name).join(", ")}`;
  return `Unknown skill "${name}": ${hint}`;
}

type SkillPinResult = {
  readonly pinned: readonly { readonly skill: Skill; readonly pin: PinnedSkill }[];
  readonly warnings: readonly string[];
};

async function pinSkills(skills: readonly Skill[], signal: AbortSignal): Promise<SkillPinResult> {
  const pinned: { skill: Skill; pin: PinnedSkill }[] = [];
  const warnings: string[] = [];
  let remainingFiles = MAX_TOTAL_FILES;
  for (const skill of skills) {
    const { name, folder } = skill;
    try {
      const { files, rejected } = await listSkillFiles(await openRoot(folder), signal);
      const [first] = rejected;
      if (first !== undefined) {
        const more = rejected.length === 1 ? "" : ` (and ${rejected.length - 1} more)`;
        warnings.push(`Skipped in the skill ${name}: ${first}${more}`);
      }
      remainingFiles -= files.length;
      if (remainingFiles < 0)
        throw new SkillTooLargeError(`all skills together have more than ${MAX_TOTAL_FILES} files`);
      pinned.push({ skill, pin: { name, folder, files: [...files] } });
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SkillTooLargeError ? error.message : describeSystemError(error);
      warnings.push(`The skill ${name} in ${folder} was skipped: ${reason}`);
    }
  }
  return { pinned, warnings };
}

function chooseReaderName({ tools, subAgents = [] }: AgentDefinition): string {
  const taken = [...tools.map(toCanonicalName), ...subAgents.map(({ name }) => name)];
  return SKILL_READER_NAMES.find((name) => !taken.includes(name)) ?? SKILL_READER_NAMES[0];
}

function pinReader(name: string, skills: readonly PinnedSkill[]): PinnedTool {
  const { $schema: _, ...parameters } = READ_SKILL_PARAMETERS as Record<string, unknown>;
  const shape = JSON.stringify([READ_SKILL_DESCRIPTION, parameters]);
  return {
    source: "skills",
    from: "skills",
    remote: "read_skill",
    name,
    description: READ_SKILL_DESCRIPTION,
    parameters,
    replay: "pure",
    // Changes of the skills' contents are reported for each skill separately.
    hash: createHash("sha256").update(shape).digest("hex"),
    data: { skills },
  };
}
