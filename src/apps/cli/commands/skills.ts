import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { truncateText } from "../../../platform/text/truncate-text.ts";
import { DEFAULT_SKILL_FOLDERS } from "../../../schema/skills.ts";
import { checkSkills } from "../../../tools/sources/skills/check-skills.ts";
import { type FoundSkill, findSkills, mergeSkills } from "../../../tools/sources/skills/find-skills.ts";
import { resolveSkillFolder } from "../../../tools/sources/skills/resolve-skill-folder.ts";
import { formatSkillProblem, type SkillProblem } from "../../../tools/sources/skills/skill-problem.ts";
import { loadAgentFile } from "../agent-file.ts";
import type { Context, RunAction } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { stripControls } from "../palette.ts";
import { formatTable } from "../table.ts";
import { formatCount } from "../text.ts";
import { readTrust, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";

type ListFlags = UntrustedFlag & { readonly folder?: readonly string[]; readonly agent?: string };
type CheckFlags = { readonly strict?: boolean };

/** The limit in a table; the JSON output has the whole description. */
const MAX_DESCRIPTION_CHARS = 60;

export function configureSkillsCommand(skills: Command, runAction: RunAction): void {
  skills.addHelpText(
    "after",
    `
Examples:
  $ holdfast skills list
  $ holdfast skills check ./skills`,
  );
  skills
    .command("list")
    .description("List the skills of folders or of an agent; if two have the same name, the later folder's")
    .option("--folder <dir>", "a folder of skills; repeatable", collectValue)
    .option("-a, --agent <file>", "an agent file, or FILE#NAME: list this agent's skills")
    .option(...UNTRUSTED)
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast skills list --folder ~/.holdfast/skills --folder ./skills
  $ holdfast skills list --agent agent.toml --json

Without flags, the command lists the skills of ${DEFAULT_SKILL_FOLDERS.join(" and ")}.`,
    )
    .action(async (flags: ListFlags) => runAction((context) => listSkills(context, flags)));
  skills
    .command("check")
    .description("List the errors and warnings of skills")
    .argument("[folder...]", "a folder of skills, or the folder of one skill")
    .option("--strict", "treat warnings as errors")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast skills check
  $ holdfast skills check ./skills/review --strict --json

Without a folder, the command checks ${DEFAULT_SKILL_FOLDERS.join(" and ")}.

Exit codes: 0 no errors, 1 errors (with --strict, also warnings).`,
    )
    .action(async (folders: string[], flags: CheckFlags) =>
      runAction((context) => runCheck(context, folders, flags)),
    );
}

function collectValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

type SkillSources = { readonly folders: readonly string[]; readonly names?: readonly string[] | undefined };

/** Finds the skill folders that a worker of this user searches; undefined for an agent without skills. */
function findSkillSources(context: Context, flags: ListFlags): SkillSources | undefined {
  const { folder, agent } = flags;
  const { env } = context.streams;
  const cwd = process.cwd();
  const resolveFolders = (folders: readonly string[], workspace = cwd) =>
    folders.map((said) => resolveSkillFolder(said, workspace, env["HOME"]));
  if (agent === undefined) return { folders: resolveFolders(folder ?? DEFAULT_SKILL_FOLDERS) };
  if (folder !== undefined)
    throw new UsageError(
      "--folder and --agent exclude each other, because an agent has its own folders. Give one of them.",
    );
  const { skills, workspace } = loadAgentFile(agent, readTrust(context, flags)).agent;
  return skills === undefined
    ? undefined
    : { folders: resolveFolders(skills.folders, workspace), names: skills.names };
}

async function listSkills(context: Context, flags: ListFlags): Promise<number> {
  const sources = findSkillSources(context, flags);
  if (sources === undefined) {
    context.report(`${flags.agent} has no skills. To add some, write a [skills] section.`);
    return EXIT.ok;
  }
  const { found, problems } = await findSkills(sources.folders);
  const skills = mergeSkills(found.flatMap(({ skill }) => skill ?? [])).filter(
    ({ name }) => sources.names?.includes(name) ?? true,
  );
  const unknown = (sources.names ?? []).filter((name) => !skills.some((skill) => skill.name === name));
  const unusable = found
    .filter(({ skill }) => skill === undefined)
    .flatMap((one) => one.problems.slice(0, 1));
  const warnings = [
    ...problems,
    ...unknown.map((name) => `The skill "${name}" does not exist`),
    ...unusable.map((one) => `Skipped: ${formatSkillProblem(one)}`),
  ];
  for (const warning of warnings)
    context.report(`${context.err.yellow("warning")}: ${stripControls(warning)}`);
  if (context.json) {
    for (const { name, description, folder, source, allowedTools } of skills) {
      context.printJson({ type: "skill", name, description, folder, source, allowedTools });
    }
    return EXIT.ok;
  }
  if (skills.length === 0) context.report(formatNoSkills(sources.folders));
  else {
    const rows = skills.map(({ name, folder, description }) => [
      name,
      folder,
      shortenDescription(description),
    ]);
    for (const line of formatTable([["NAME", "FOLDER", "DESCRIPTION"], ...rows]))
      context.print(stripControls(line));
  }
  return EXIT.ok;
}

function formatNoSkills(folders: readonly string[]): string {
  const folderTexts = folders.map((folder) => (existsSync(folder) ? folder : `${folder} (does not exist)`));
  return `No skills in ${folderTexts.join(", ")}.`;
}

function shortenDescription(text: string): string {
  return truncateText(text.replace(/\s+/g, " "), MAX_DESCRIPTION_CHARS);
}

async function runCheck(context: Context, named: readonly string[], { strict }: CheckFlags): Promise<number> {
  const checkedFolders =
    named.length > 0 ? named.map((folder) => resolve(folder)) : findSkillSources(context, {})!.folders;
  const problems: SkillProblem[] = [];
  for (const folder of checkedFolders) {
    const checked = await checkSkills(folder);
    const whole = [
      ...checked.problems,
      ...(named.length > 0 && checked.skills.length + checked.problems.length === 0
        ? ["it contains no folder with a SKILL.md"]
        : []),
    ].map((message): SkillProblem => ({ fault: "unusable-file", severity: "error", file: folder, message }));
    problems.push(...whole, ...checked.skills.flatMap((skill) => skill.problems));
    if (context.json) {
      for (const problem of whole) context.printJson({ type: "problem", ...problem });
    } else for (const problem of whole) context.print(formatProblem(problem, context));
    for (const skill of checked.skills) reportSkill(context, skill);
    if (checked.skills.length + whole.length === 0) context.report(formatNoSkills([folder]));
  }
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (!context.json && problems.length > 0) {
    context.print(`${formatCount(errors, "error")}, ${formatCount(problems.length - errors, "warning")}`);
  }
  return errors > 0 || (strict === true && problems.length > 0) ? EXIT.failed : EXIT.ok;
}

function reportSkill(context: Context, { folder, skill, problems }: FoundSkill): void {
  const valid = problems.every(({ severity }) => severity !== "error");
  if (context.json) {
    context.printJson({ type: "check", folder, name: skill?.name, valid, problems });
    return;
  }
  for (const problem of problems) context.print(formatProblem(problem, context));
  if (valid) context.print(`${context.out.green("ok")}  ${stripControls(`${skill?.name}: ${folder}`)}`);
}

function formatProblem(problem: SkillProblem, { out }: Context): string {
  const line = stripControls(formatSkillProblem(problem));
  return problem.severity === "error" ? out.red(line) : out.yellow(line);
}
