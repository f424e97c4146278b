import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { DEFAULT_SKILL_FOLDERS } from "../../schema/skills.ts";
import { checkSkills } from "../../skills/check.ts";
import { type FoundSkill, findSkills, merged } from "../../skills/find.ts";
import { skillFolder } from "../../skills/folder.ts";
import { type SkillProblem, skillProblemLine } from "../../skills/problem.ts";
import { agentFromFile } from "../agent-file.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { printable } from "../palette.ts";
import { table } from "../table.ts";
import { surroundingsOf, UNTRUSTED, type UntrustedFlag } from "../untrusted-flag.ts";
import { UsageError } from "../usage-error.ts";
import { count } from "../words.ts";

type Act = (work: (context: Context) => Promise<number>) => Promise<void>;
type ListFlags = UntrustedFlag & { readonly folder?: readonly string[]; readonly agent?: string };
type CheckFlags = { readonly strict?: boolean };

/** In a table; the whole is in the JSON. */
const MAX_DESCRIPTION_CHARS = 60;

export function skillsCommand(program: Command, act: Act): void {
  const skills = program
    .command("skills")
    .description("Show the skills that agents may read, and check them")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast skills list
  $ holdfast skills check ./skills`,
    );
  skills
    .command("list")
    .description("List the skills of folders, or of an agent; of two of one name that of the later folder")
    .option("--folder <dir>", "a folder of skills; may be said again", collect)
    .option("-a, --agent <file>", "an agent file, or FILE#NAME: the skills that it has")
    .option(...UNTRUSTED)
    .addHelpText(
      "after",
      `
Without flags: what ${DEFAULT_SKILL_FOLDERS.join(" and ")} holds.

Examples:
  $ holdfast skills list --folder ~/.holdfast/skills --folder ./skills
  $ holdfast skills list --agent agent.toml --json`,
    )
    .action(async (flags: ListFlags) => act((context) => list(context, flags)));
  skills
    .command("check")
    .description("Say everything that is wrong or doubtful in skills")
    .argument("[folder...]", "a folder of skills, or the folder of one")
    .option("--strict", "a warning is a failure")
    .addHelpText(
      "after",
      `
Without a folder: what ${DEFAULT_SKILL_FOLDERS.join(" and ")} holds.

Examples:
  $ holdfast skills check
  $ holdfast skills check ./skills/review --strict --json

Exit codes: 0 all is well, 1 something is wrong (with --strict: or doubtful).`,
    )
    .action(async (folders: string[], flags: CheckFlags) => act((context) => check(context, folders, flags)));
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

type Places = { readonly folders: readonly string[]; readonly names?: readonly string[] | undefined };

/** Where skills are looked for, as a worker of this user would. */
function places(context: Context, flags: ListFlags): Places | undefined {
  const { folder, agent } = flags;
  const { env } = context.streams;
  const cwd = process.cwd();
  const absolute = (folders: readonly string[], workspace = cwd) =>
    folders.map((said) => skillFolder(said, workspace, env["HOME"]));
  if (agent === undefined) return { folders: absolute(folder ?? DEFAULT_SKILL_FOLDERS) };
  if (folder !== undefined)
    throw new UsageError("Say --folder or --agent: an agent names its folders itself.");
  const { skills, workspace } = agentFromFile(agent, surroundingsOf(context, flags)).agent;
  return skills === undefined
    ? undefined
    : { folders: absolute(skills.folders, workspace), names: skills.names };
}

async function list(context: Context, flags: ListFlags): Promise<number> {
  const asked = places(context, flags);
  if (asked === undefined) {
    context.tell(`${flags.agent} has no skills: add a section [skills].`);
    return EXIT.ok;
  }
  const { found, problems } = await findSkills(asked.folders);
  const skills = merged(found.flatMap(({ skill }) => skill ?? [])).filter(
    ({ name }) => asked.names?.includes(name) ?? true,
  );
  const unknown = (asked.names ?? []).filter((name) => !skills.some((skill) => skill.name === name));
  const left = found.filter(({ skill }) => skill === undefined).flatMap((one) => one.problems.slice(0, 1));
  const warnings = [
    ...problems,
    ...unknown.map((name) => `There is no skill "${name}"`),
    ...left.map((one) => `Left out: ${skillProblemLine(one)}`),
  ];
  for (const warning of warnings) context.tell(`${context.err.yellow("warning")}: ${printable(warning)}`);
  if (context.json) {
    for (const { name, description, folder, source, allowedTools } of skills) {
      context.printJson({ type: "skill", name, description, folder, source, allowedTools });
    }
    return EXIT.ok;
  }
  if (skills.length === 0) context.tell(noSkills(asked.folders));
  else {
    const rows = skills.map(({ name, folder, description }) => [name, folder, shortened(description)]);
    for (const line of table([["NAME", "FOLDER", "DESCRIPTION"], ...rows])) context.print(printable(line));
  }
  return EXIT.ok;
}

function noSkills(folders: readonly string[]): string {
  const places = folders.map((folder) => (existsSync(folder) ? folder : `${folder} (which is not there)`));
  return `No skills in ${places.join(", ")}.`;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= MAX_DESCRIPTION_CHARS ? line : `${line.slice(0, MAX_DESCRIPTION_CHARS - 1)}…`;
}

async function check(context: Context, named: readonly string[], { strict }: CheckFlags): Promise<number> {
  const asked = named.length > 0 ? named.map((folder) => resolve(folder)) : places(context, {})!.folders;
  const problems: SkillProblem[] = [];
  for (const folder of asked) {
    const checked = await checkSkills(folder);
    const whole = [
      ...checked.problems,
      ...(named.length > 0 && checked.skills.length + checked.problems.length === 0
        ? ["there is no folder with a SKILL.md in it"]
        : []),
    ].map((message): SkillProblem => ({ fault: "unusable-file", severity: "error", file: folder, message }));
    problems.push(...whole, ...checked.skills.flatMap((skill) => skill.problems));
    if (context.json) {
      for (const problem of whole) context.printJson({ type: "problem", ...problem });
    } else for (const problem of whole) context.print(shown(problem, context));
    for (const skill of checked.skills) tellSkill(context, skill);
    if (checked.skills.length + whole.length === 0) context.tell(noSkills([folder]));
  }
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (!context.json && problems.length > 0) {
    context.print(`${count(errors, "error")}, ${count(problems.length - errors, "warning")}`);
  }
  return errors > 0 || (strict === true && problems.length > 0) ? EXIT.failed : EXIT.ok;
}

function tellSkill(context: Context, { folder, skill, problems }: FoundSkill): void {
  const valid = problems.every(({ severity }) => severity !== "error");
  if (context.json) {
    context.printJson({ type: "check", folder, name: skill?.name, valid, problems });
    return;
  }
  for (const problem of problems) context.print(shown(problem, context));
  if (valid) context.print(`${context.out.green("ok")}  ${printable(`${skill?.name}: ${folder}`)}`);
}

function shown(problem: SkillProblem, { out }: Context): string {
  const line = printable(skillProblemLine(problem));
  return problem.severity === "error" ? out.red(line) : out.yellow(line);
}
