import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../../tool-execution.ts";
import { describeSystemError } from "../../workspace/system-error.ts";
import { openFile, type WorkspaceRoot } from "../../workspace/workspace-access.ts";

/** A file of a skill at the time of its inspection. */
export type SkillFile = {
  /** Relative to the skill's folder, with `/`. */
  readonly path: string;
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string;
};

export type SkillFiles = {
  /** Sorted by path. */
  readonly files: readonly SkillFile[];
  /** Paths that do not belong to the skill, with reasons: `data: it is a link to a folder`. */
  readonly rejected: readonly string[];
};

/** The skill is too large to be inspected whenever a loop opens. */
export class SkillTooLargeError extends Error {
  override readonly name = "SkillTooLarge";
}

export const MAX_FILES = 512;
export const MAX_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 16;
/** The limit for files, folders and rejected paths together. */
const MAX_ENTRIES = 4 * MAX_FILES;
const CHUNK_BYTES = 64 * 1024;

/** Files that programs leave while a skill is edited or used. */
const IGNORED_NAMES = new Set([".git", "node_modules", "__pycache__", ".DS_Store", ".venv"]);

/** Lists all files of a skill, without links that leave its folder. */
export async function listSkillFiles(root: WorkspaceRoot, signal?: AbortSignal): Promise<SkillFiles> {
  const files: SkillFile[] = [];
  const rejected: string[] = [];
  let bytes = 0;
  let entryCount = 0;

  async function hashFile(path: string): Promise<string> {
    const { handle } = await openFile(root, join(root.realPath, path));
    try {
      const hash = createHash("sha256");
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES);
        if (bytesRead === 0) return hash.digest("hex");
        bytes += bytesRead;
        if (bytes > MAX_BYTES)
          throw new SkillTooLargeError(`its files have more than ${MAX_BYTES} bytes together`);
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  }

  async function listEntries(folder: string): Promise<readonly Dirent[]> {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(folder)) {
      signal?.throwIfAborted();
      entryCount += 1;
      if (entryCount > MAX_ENTRIES)
        throw new SkillTooLargeError(`it has more than ${MAX_ENTRIES} files and folders`);
      if (!IGNORED_NAMES.has(entry.name) && !entry.name.endsWith(".pyc")) entries.push(entry);
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async function walk(below: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) throw new SkillTooLargeError(`its folders are more than ${MAX_DEPTH} levels deep`);
    for (const entry of await listEntries(join(root.realPath, below))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path, depth + 1);
      else if (files.length === MAX_FILES)
        throw new SkillTooLargeError(`it has more than ${MAX_FILES} files`);
      else if (/\p{Cc}/u.test(entry.name))
        rejected.push(`${JSON.stringify(path)}: its name is not one line of text`);
      else await visit(path);
    }
  }

  async function visit(path: string): Promise<void> {
    try {
      files.push({ path, hash: await hashFile(path) });
    } catch (error) {
      if (error instanceof SkillTooLargeError || signal?.aborted === true) throw error;
      rejected.push(`${path}: ${describeReadError(error)}`);
    }
  }

  await walk("", 0);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, rejected };
}

/** Hashes everything in a skill, names included. */
export function hashSkill(files: readonly SkillFile[]): string {
  const all = files.map(({ path, hash }) => [path, hash]);
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** Describes why a file of a skill cannot be read. */
export function describeReadError(error: unknown): string {
  if (!(error instanceof ToolError)) return describeSystemError(error);
  return error.cause === undefined
    ? "it is a link that leaves the folder of the skill"
    : describeSystemError(error.cause);
}
