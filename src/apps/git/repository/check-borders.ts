import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type GitFolders, readPointer } from "./find-git-folder.ts";
import { readConfigFile } from "./read-config.ts";
import { RepositoryError } from "./repository-error.ts";

/**
 * Throws if git would read files outside of the repository: objects borrowed from another folder, links that lead away, or
 * a `.git` file that names a repository which does not know this work tree. Whoever makes such a repository could show an
 * agent the contents of another one.
 */
export async function checkBorders(folders: GitFolders): Promise<void> {
  const { top, gitFolder, commonFolder, isLinked } = folders;
  if (isLinked && !(await knowsWorkTree(folders))) {
    throw refuse(top, `its .git file names ${gitFolder}, which belongs to another work tree`);
  }
  if (commonFolder !== gitFolder && dirname(gitFolder) !== join(commonFolder, "worktrees")) {
    throw refuse(top, `its git folder takes everything from ${commonFolder}, of which it is no work tree`);
  }
  const objects = join(commonFolder, "objects");
  const alternates = await readFile(join(objects, "info", "alternates"), "utf8").catch(() => "");
  if (alternates.trim() !== "")
    throw refuse(top, "it borrows objects from another folder (objects/info/alternates)");
  const heads = ["HEAD", "index"].map((name) => join(gitFolder, name));
  const rest = ["config", "refs", "packed-refs", "objects", "reftable"].map((name) =>
    join(commonFolder, name),
  );
  const stored = await listEntries(objects, join(objects, "info"), join(objects, "pack"));
  for (const path of [...heads, ...rest, ...stored]) {
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink() === true)
      throw refuse(top, `${path} is a link, which may lead to another repository`);
  }
}

/** A linked work tree and a submodule are known to the folder that their `.git` file names. */
async function knowsWorkTree({ top, gitFolder }: GitFolders): Promise<boolean> {
  const back = await readPointer(join(gitFolder, "gitdir"));
  if (back !== undefined) return resolve(gitFolder, back) === join(top, ".git");
  const config = await readConfigFile(join(gitFolder, "config"), dirname(top));
  const workTree = config.get("core.worktree")?.at(-1);
  return workTree !== undefined && resolve(gitFolder, workTree) === top;
}

async function listEntries(...folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder).catch((): string[] => []);
      return names.map((name) => join(folder, name));
    }),
  );
  return found.flat();
}

function refuse(top: string, reason: string): RepositoryError {
  return new RepositoryError(
    "unsafe",
    `The repository ${top} is not read: ${reason}. If you trust it, say so when Holdfast asks, or with its trust setting.`,
  );
}
