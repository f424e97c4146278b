import { constants } from "node:fs";
import { copyFile, lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { GitError, runGit, tryGit } from "./run-git.ts";

export type Repository = {
  /** The workspace, by its real path. */
  readonly folder: string;
  /** The work tree that holds it. */
  readonly top: string;
  /** The workspace within it; empty when it is the work tree itself. */
  readonly prefix: string;
};

export type TreeBounds = {
  /** Of files that git does not hold yet as they are. */
  readonly maxBytes: number;
  readonly maxFiles: number;
};

const DEFAULT_BOUNDS: TreeBounds = { maxBytes: 256 * 1024 * 1024, maxFiles: 20_000 };

/** Throws `GitError` for a folder that cannot be kept, with the reason. */
export async function findRepository(workspace: string, signal?: AbortSignal): Promise<Repository> {
  const options = signal === undefined ? {} : { signal };
  const folder = await realpath(workspace);
  const output = await tryGit(folder, ["rev-parse", "--show-toplevel", "--show-prefix"], options);
  if (output === undefined)
    throw new GitError(`${workspace} is not in a git repository, or git is not there`);
  const [top = "", prefix = ""] = output.split("\n");
  if (top === "" || resolve(top, prefix) !== folder) {
    throw new GitError(`${workspace} is not where its git repository says that it is`);
  }
  await assertNoFilters(folder, options);
  return { folder, top, prefix };
}

/** Filters are programs, and those that a repository itself names may have been named by the agent. */
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
    `the repository itself names a program to run (${own.split(/\s/)[1]}), which is not run here`,
  );
}

/**
 * The tree of the workspace as it is now, files that are not tracked included and ignored ones left out, in the object
 * store alone: index, branches and work tree stay as they are. What else the work tree holds is as the index has it.
 */
export async function writeTree(
  { folder }: Repository,
  { signal, bounds = DEFAULT_BOUNDS }: { readonly signal?: AbortSignal; readonly bounds?: TreeBounds } = {},
): Promise<string> {
  const own = await mkdtemp(join(tmpdir(), "holdfast-index-"));
  const options = { index: join(own, "index"), ...(signal === undefined ? {} : { signal }) };
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
      `${files.size} files are new or changed, more than ${maxFiles}: ignore those that need not be kept`,
    );
  }
  let bytes = 0;
  for (const name of files) {
    bytes += (await lstat(join(folder, name)).catch(() => undefined))?.size ?? 0;
    if (bytes <= maxBytes) continue;
    const megabytes = Math.round(maxBytes / (1024 * 1024));
    throw new GitError(
      `new and changed files have more than ${megabytes} MB: ignore those that need not be kept`,
    );
  }
}
