import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { RepositoryError } from "./repository-error.ts";

/** Where the parts of a repository are. Absolute real paths. */
export type GitFolders = {
  /** The work tree. */
  readonly top: string;
  /** HEAD and the index are here. */
  readonly gitFolder: string;
  /** Objects, references and the configuration are here; the same folder except for a linked work tree. */
  readonly commonFolder: string;
  /** Whether `.git` is a file that names the folder. */
  readonly isLinked: boolean;
};

/** A `.git` file and its like contain one path. */
const MAX_POINTER_BYTES = 8 * 1024;

/**
 * Finds the repository that contains a folder. It reads names and pointers only: git itself would read the configuration
 * while it searches.
 */
export async function findGitFolder(folder: string): Promise<GitFolders> {
  const start = await realpath(folder).catch((cause: unknown) => {
    throw new RepositoryError("not-a-repository", `${folder} does not exist or cannot be read`, { cause });
  });
  for (let top = start; ; top = dirname(top)) {
    const entry = join(top, ".git");
    const found = await lstat(entry).catch(() => undefined);
    if (found?.isDirectory() === true) return await locate(top, entry, false);
    if (found?.isFile() === true) return await locate(top, await readGitFile(entry), true);
    if (found !== undefined) {
      throw new RepositoryError("unsafe", `${entry} is neither a folder nor a file; a link is not followed`);
    }
    if (dirname(top) === top) break;
  }
  throw new RepositoryError("not-a-repository", `${folder} is not in a git repository with a work tree`);
}

async function locate(top: string, named: string, isLinked: boolean): Promise<GitFolders> {
  const gitFolder = await realpath(named).catch((cause: unknown) => {
    throw new RepositoryError("not-a-repository", `${join(top, ".git")} names a folder that does not exist`, {
      cause,
    });
  });
  const common = await readPointer(join(gitFolder, "commondir"));
  const commonFolder = common === undefined ? gitFolder : await realpath(resolve(gitFolder, common));
  return { top, gitFolder, commonFolder, isLinked };
}

async function readGitFile(file: string): Promise<string> {
  const target = /^gitdir: (.+)$/s.exec((await readPointer(file)) ?? "")?.[1];
  if (target === undefined) throw new RepositoryError("not-a-repository", `${file} names no git folder`);
  return isAbsolute(target) ? target : resolve(dirname(file), target);
}

/** Reads a small file with one path; undefined if there is none. A link is not followed. */
export async function readPointer(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_POINTER_BYTES) return undefined;
  return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
}
