import { opendir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { describeSystemError, hasCode } from "../../workspace/system-error.ts";
import { isWithin, openFile, openRoot, type WorkspaceRoot } from "../../workspace/workspace-access.ts";
import { readSkillText, type SkillText } from "./read-skill-text.ts";
import { describeReadError } from "./skill-files.ts";
import type { SkillProblem } from "./skill-problem.ts";

/** A skill that can be loaded. */
export type Skill = SkillText & {
  /** Absolute, with links resolved. */
  readonly folder: string;
  /** The path of its SKILL.md. */
  readonly file: string;
  /** The folder that the skill comes from: `dir:0`, or the caller's name for it. */
  readonly source: string;
};

/** A folder that was inspected as a skill. */
export type FoundSkill = {
  readonly folder: string;
  /** Absent if the skill cannot be loaded. */
  readonly skill?: Skill;
  readonly problems: readonly SkillProblem[];
};

export type FoundSkills = {
  readonly found: readonly FoundSkill[];
  /** Why a whole folder of skills could not be searched, one sentence each. */
  readonly problems: readonly string[];
};

export const SKILL_FILE = "SKILL.md";
/** The format recommends at most 500 lines. */
const MAX_SKILL_FILE_BYTES = 256 * 1024;
/** The limit for one folder of skills. */
const MAX_ENTRIES = 1024;

/** Finds the skills of several folders, in order; missing folders are skipped (SKL-03). */
export async function findSkills(folders: readonly string[]): Promise<FoundSkills> {
  const all = await Promise.all(folders.map((folder, index) => findSkillsInFolder(folder, `dir:${index}`)));
  return { found: all.flatMap(({ found }) => found), problems: all.flatMap(({ problems }) => problems) };
}

/** Finds the skills in one folder (SKL-04). A missing folder contains none. */
export async function findSkillsInFolder(folder: string, source: string): Promise<FoundSkills> {
  try {
    const root = await realpath(folder);
    const names = await listSkillNames(root);
    const found = await Promise.all(names.map((name) => tryLoadSkill(root, name, source)));
    const single = names.length === 0 && (await exists(join(root, SKILL_FILE)));
    const problems = single ? [`${folder} is a skill itself: specify the folder that contains it`] : [];
    return { found: found.flatMap((one) => one ?? []), problems };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { found: [], problems: [] };
    return {
      found: [],
      problems: [`The skills folder ${folder} cannot be read: ${describeSystemError(error)}`],
    };
  }
}

/** Merges skills, sorted by name. Of two with the same name the later one wins (SKL-03, SKL-04). */
export function mergeSkills(...sets: readonly (readonly Skill[])[]): readonly Skill[] {
  const byName = new Map(sets.flat().map((skill) => [skill.name, skill]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Loads one folder as a skill, with links in its path resolved. */
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
        `it has more than ${MAX_SKILL_FILE_BYTES} bytes; move parts of it to separate files`,
      );
    }
    const text = decodeText(buffer.subarray(0, size));
    if (text === undefined) throw new UnusableFileError("it is not UTF-8 text");
    return text;
  } finally {
    await handle.close();
  }
}

/** Returns nothing if the bytes are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Lists the names that may be skills: those of folders and links. */
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

/** Returns nothing if the name is not that of a skill. */
async function tryLoadSkill(root: string, name: string, source: string): Promise<FoundSkill | undefined> {
  const folder = join(root, name);
  const real = await realpath(folder).catch(() => folder);
  if (!(await exists(join(real, SKILL_FILE)))) return undefined;
  if (isWithin(root, real)) return loadSkill(real, source);
  const message = `it is a link that leaves ${root}; add the folder that contains ${real} to the skills folders`;
  return { folder, problems: [{ fault: "unusable-file", severity: "error", file: folder, message }] };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !hasCode(error, "ENOENT", "ENOTDIR"),
  );
}
