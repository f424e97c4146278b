import { constants } from "node:fs";
import { copyFile, lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { omitUndefined } from "../text/omit-undefined.ts";
import { GitError, runGit, tryGit } from "./run-git.ts";

export type Repository = {
  /** The real path of the workspace. */
  readonly folder: string;
  /** The work tree that contains it. */
  readonly top: string;
  /** The workspace's path within the work tree; empty if they are the same. */
  readonly prefix: string;
};

export type TreeBounds = {
  /** The maximum total size of files that git does not yet contain in their current state. */
  readonly maxBytes: number;
  readonly maxFiles: number;
};

const DEFAULT_BOUNDS: TreeBounds = { maxBytes: 256 * 1024 * 1024, maxFiles: 20_000 };

/** Finds the repository of a workspace. Throws `GitError` with the reason if snapshots are impossible. */
export async function findRepository(workspace: string, signal?: AbortSignal): Promise<Repository> {
  const options = omitUndefined({ signal });
  const folder = await realpath(workspace);
  const output = await tryGit(folder, ["rev-parse", "--show-toplevel", "--show-prefix"], options);
  if (output === undefined)
    throw new GitError(`${workspace} is not in a git repository, or git is not installed`);
  const [top = "", prefix = ""] = output.split("\n");
  if (top === "" || resolve(top, prefix) !== folder) {
    throw new GitError(`${workspace} is not at the location that its git repository reports`);
  }
  await assertNoFilters(folder, options);
  return { folder, top, prefix };
}

/** Throws if the repository configures filters: filters are programs, and the agent may have configured them. */
async function assertNoFilters(folder: string, options: { signal?: AbortSignal }): Promise<void> {
  const names = [
    "config",
    "--show-scope",
    "--name-only",
    "--get-regexp",
    "^filter\\..*\\.(clean|smudge|process)$",
  ];
  const output = (await tryGit(folder, names, options)) ?? "";
  const own = output.split("\n").find((line) => /^(local|worktree)\s/.test(line));
  if (own === undefined) return;
  throw new GitError(
    `the repository's configuration contains a program to run (${own.split(/\s/)[1]}), which Holdfast does not run`,
  );
}

/**
 * Writes the current tree of the workspace, including untracked files but not ignored ones, to the object store. Index,
 * branches and work tree stay unchanged. Files outside the workspace are as in the index.
 */
export async function writeTree(
  { folder }: Repository,
  { signal, bounds = DEFAULT_BOUNDS }: { readonly signal?: AbortSignal; readonly bounds?: TreeBounds } = {},
): Promise<string> {
  const own = await mkdtemp(join(tmpdir(), "holdfast-index-"));
  const options = { index: join(own, "index"), ...omitUndefined({ signal }) };
  try {
    const gitFolder = (await runGit(folder, ["rev-parse", "--absolute-git-dir"], options)).trim();
    await copyFile(join(gitFolder, "index"), options.index, constants.COPYFILE_FICLONE).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      },
    );
    await assertWithinBounds(folder, options, bounds);
    await runGit(folder, ["add", "--all", "--", "."], options);
    return (await runGit(folder, ["write-tree"], options)).trim();
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function assertWithinBounds(
  folder: string,
  options: { index: string; signal?: AbortSignal },
  { maxBytes, maxFiles }: TreeBounds,
): Promise<void> {
  const listed = await runGit(
    folder,
    ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", "."],
    options,
  );
  const files = new Set(listed.split("\0").filter((name) => name !== ""));
  if (files.size > maxFiles) {
    throw new GitError(
      `${files.size} files are new or changed, more than ${maxFiles}: add files that need no snapshot to .gitignore`,
    );
  }
  let bytes = 0;
  for (const name of files) {
    bytes += (await lstat(join(folder, name)).catch(() => undefined))?.size ?? 0;
    if (bytes <= maxBytes) continue;
    const megabytes = Math.round(maxBytes / (1024 * 1024));
    throw new GitError(
      `new and changed files have more than ${megabytes} MB: add files that need no snapshot to .gitignore`,
    );
  }
}
