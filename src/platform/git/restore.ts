import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { GitError, git, gitOrNothing } from "./run-git.ts";
import { repositoryOf, treeOf } from "./tree-of.ts";

/** Restoring may have many files to write. */
const TIMEOUT_MS = 120_000;

export type RestoreAsked = {
  /** The snapshot, and the workspace that it was taken of. */
  readonly commit: string;
  readonly workspace: string;
};

/**
 * Puts a snapshot into a new work tree of the same repository, at the commit that was checked out then. The workspace
 * that it was taken of is not touched. Gives the folder to work in: as deep in the new work tree as it was in the old.
 *
 * @param folder - Must not be there.
 */
export async function restoreBeside({ commit, workspace }: RestoreAsked, folder: string): Promise<string> {
  const { folder: from, prefix } = await repositoryOf(workspace);
  if (existsSync(folder)) throw new GitError(`${folder} is there already; name another folder`);
  const options = { timeoutMs: TIMEOUT_MS };
  await mustBeThere(from, commit);
  const parent = (
    await gitOrNothing(from, ["rev-parse", "--verify", "--quiet", `${commit}^`], options)
  )?.trim();
  await git(from, ["worktree", "add", "--detach", folder, parent ?? commit], options);
  await git(folder, ["restore", `--source=${commit}`, "--worktree", "--", ":/"], options);
  return resolve(folder, prefix);
}

/** Where a new work tree goes when nobody says so. */
export async function folderBeside(workspace: string, name: string): Promise<string> {
  const { top } = await repositoryOf(workspace);
  return join(dirname(top), `${basename(top)}-${name}`);
}

/**
 * Puts a snapshot into the workspace itself. Refused unless that is clean: everything in it is committed, or held by one
 * of these snapshots. Index and branches stay as they are.
 */
export async function restoreInPlace(
  { commit, workspace }: RestoreAsked,
  snapshots: readonly string[],
): Promise<string> {
  const repository = await repositoryOf(workspace);
  const { folder, top } = repository;
  await mustBeThere(folder, commit);
  const now = await treeOf(repository);
  await mustBeClean(folder, now, snapshots);
  const options = { timeoutMs: TIMEOUT_MS };
  const changed = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
  const gone = await git(folder, [...changed, "--diff-filter=D", now, commit, "--", "."], options);
  const other = await git(folder, [...changed, "--diff-filter=d", now, commit, "--", "."], options);
  if (other !== "") await git(folder, ["restore", `--source=${commit}`, "--worktree", "--", "."], options);
  for (const name of gone.split("\0").filter((one) => one !== "")) await rm(join(top, name), { force: true });
  return folder;
}

async function mustBeThere(folder: string, commit: string): Promise<void> {
  const found = await gitOrNothing(folder, ["cat-file", "-t", commit]);
  if (found?.trim() === "commit") return;
  throw new GitError(`the repository of ${folder} does not hold the snapshot ${commit} any more`);
}

async function mustBeClean(folder: string, now: string, snapshots: readonly string[]): Promise<void> {
  const status = await git(folder, ["status", "--porcelain", "--", "."]);
  if (status === "") return;
  for (const commit of snapshots) {
    const tree = await gitOrNothing(folder, ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`]);
    if (tree?.trim() === now) return;
  }
  throw new GitError(
    `${folder} has changes that are neither committed nor held by a snapshot: commit or stash them, or restore into a new folder`,
  );
}
