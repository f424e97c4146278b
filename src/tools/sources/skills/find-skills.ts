import { opendir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { describeSystemError, hasCode } from "../../workspace/system-error.ts";
import { isWithin, openFile, openRoot, type WorkspaceRoot } from "../../workspace/workspace-access.ts";
import { readSkillText, type SkillText } from "./read-skill-text.ts";
import { describeReadError } from "./skill-files.ts";
import type { SkillProblem } from "./skill-problem.ts";

/** A skill that can be loaded. */
export type Skill = SkillText & {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** Its SKILL.md, in that folder. */
  readonly file: string;
  /** Which of the folders it comes from: `dir:0`, or what the caller calls it. */
  readonly source: string;
};

/** What was looked at as a skill. */
export type FoundSkill = {
  readonly folder: string;
  /** Absent where it cannot be loaded. */
  readonly skill?: Skill;
  readonly problems: readonly SkillProblem[];
};

export type FoundSkills = {
  readonly found: readonly FoundSkill[];
  /** What keeps a whole folder from being looked through, a sentence each. */
  readonly problems: readonly string[];
};

export const SKILL_FILE = "SKILL.md";
/** What it recommends has 500 lines. */
const MAX_SKILL_FILE_BYTES = 256 * 1024;
/** Of one folder of skills. */
const MAX_ENTRIES = 1024;

/** SKL-03: what the folders hold, in their order; those that are not there are passed over. */
export async function findSkills(folders: readonly string[]): Promise<FoundSkills> {
  const all = await Promise.all(folders.map((folder, index) => findSkillsInFolder(folder, `dir:${index}`)));
  return { found: all.flatMap(({ found }) => found), problems: all.flatMap(({ problems }) => problems) };
}

/** The skills in one folder (SKL-04). A folder that is not there holds none. */
export async function findSkillsInFolder(folder: string, source: string): Promise<FoundSkills> {
  try {
    const root = await realpath(folder);
    const names = await listSkillNames(root);
    const found = await Promise.all(names.map((name) => tryLoadSkill(root, name, source)));
    const single = names.length === 0 && (await exists(join(root, SKILL_FILE)));
    const problems = single ? [`${folder} is a skill itself: name the folder that it stands in`] : [];
    return { found: found.flatMap((one) => one ?? []), problems };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { found: [], problems: [] };
    return {
      found: [],
      problems: [`The folder of skills ${folder} cannot be read: ${describeSystemError(error)}`],
    };
  }
}

/** The later one of two of a name, sorted by name (SKL-03, SKL-04). */
export function mergeSkills(...sets: readonly (readonly Skill[])[]): readonly Skill[] {
  const byName = new Map(sets.flat().map((skill) => [skill.name, skill]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** One folder as a skill, links in its path resolved. */
export async function loadSkill(folder: string, source: string): Promise<FoundSkill> {
  const file = join(folder, SKILL_FILE);
  try {
    const root = await openRoot(folder);
    const text = await readSkillFile(root);
    const { skill, problems } = readSkillText(text, file, basename(root.realPath));
    if (skill === undefined) return { folder, problems };
    const location = { folder: root.realPath, file: join(root.realPath, SKILL_FILE), source };
    return { folder, skill: { ...skill, ...location }, problems };
  } catch (error) {
    const message = error instanceof UnusableFileError ? error.message : describeReadError(error);
    return { folder, problems: [{ fault: "unusable-file", severity: "error", file, message }] };
  }
}

class UnusableFileError extends Error {}

async function readSkillFile(root: WorkspaceRoot): Promise<string> {
  const { handle } = await openFile(root, join(root.realPath, SKILL_FILE));
  try {
    const buffer = Buffer.alloc(MAX_SKILL_FILE_BYTES + 1);
    let size = 0;
    for (let read = -1; read !== 0 && size < buffer.length; size += read) {
      ({ bytesRead: read } = await handle.read(buffer, size, buffer.length - size, null));
    }
    if (size > MAX_SKILL_FILE_BYTES) {
      throw new UnusableFileError(
        `it has more than ${MAX_SKILL_FILE_BYTES} bytes; put parts of it into files of their own`,
      );
    }
    const text = decodeText(buffer.subarray(0, size));
    if (text === undefined) throw new UnusableFileError("it is not a text in UTF-8");
    return text;
  } finally {
    await handle.close();
  }
}

/** Nothing where the bytes are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Names that may be those of skills: of folders and of links. */
async function listSkillNames(root: string): Promise<readonly string[]> {
  const names: string[] = [];
  let entryCount = 0;
  for await (const entry of await opendir(root)) {
    entryCount += 1;
    if (entryCount > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (entry.isDirectory() || entry.isSymbolicLink()) names.push(entry.name);
  }
  return names.sort();
}

/** Nothing where the name is not that of a skill. */
async function tryLoadSkill(root: string, name: string, source: string): Promise<FoundSkill | undefined> {
  const folder = join(root, name);
  const real = await realpath(folder).catch(() => folder);
  if (!(await exists(join(real, SKILL_FILE)))) return undefined;
  if (isWithin(root, real)) return loadSkill(real, source);
  const message = `it is a link that leaves ${root}; name the folder that ${real} stands in as one more folder of skills`;
  return { folder, problems: [{ fault: "unusable-file", severity: "error", file: folder, message }] };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !hasCode(error, "ENOENT", "ENOTDIR"),
  );
}
