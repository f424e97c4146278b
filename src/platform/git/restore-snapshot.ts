import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { GitError, runGit, tryGit } from "./run-git.ts";
import { findRepository, writeTree } from "./write-tree.ts";

/** Restoring can write many files. */
const RESTORE_TIMEOUT_MS = 120_000;

export type RestoreRequest = {
  /** The commit of the snapshot. */
  readonly commit: string;
  readonly workspace: string;
};

/**
 * Restores a snapshot into a new work tree of the same repository, at the commit that was checked out then. The original
 * workspace is not changed. Returns the workspace in the new work tree, at the same relative path.
 *
 * @param folder - Must not exist.
 */
export async function restoreToNewWorktree(
  { commit, workspace }: RestoreRequest,
  folder: string,
): Promise<string> {
  const { folder: from, prefix } = await findRepository(workspace);
  if (existsSync(folder)) throw new GitError(`${folder} already exists; specify another folder`);
  const options = { timeoutMs: RESTORE_TIMEOUT_MS };
  await assertSnapshotExists(from, commit);
  const parent = (await tryGit(from, ["rev-parse", "--verify", "--quiet", `${commit}^`], options))?.trim();
  await runGit(from, ["worktree", "add", "--detach", folder, parent ?? commit], options);
  await runGit(folder, ["restore", `--source=${commit}`, "--worktree", "--", ":/"], options);
  return resolve(folder, prefix);
}

/** Returns the default folder of a new work tree. */
export async function chooseWorktreeFolder(workspace: string, name: string): Promise<string> {
  const { top } = await findRepository(workspace);
  return join(dirname(top), `${basename(top)}-${name}`);
}

/**
 * Restores a snapshot into the workspace itself. Throws unless the workspace is clean: everything in it is committed, or
 * contained in one of these snapshots. Index and branches stay unchanged.
 */
export async function restoreInPlace(
  { commit, workspace }: RestoreRequest,
  snapshots: readonly string[],
): Promise<string> {
  const repository = await findRepository(workspace);
  const { folder, top } = repository;
  await assertSnapshotExists(folder, commit);
  const now = await writeTree(repository);
  await assertClean(folder, now, snapshots);
  const options = { timeoutMs: RESTORE_TIMEOUT_MS };
  const changed = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
  const deleted = await runGit(folder, [...changed, "--diff-filter=D", now, commit, "--", "."], options);
  const other = await runGit(folder, [...changed, "--diff-filter=d", now, commit, "--", "."], options);
  if (other !== "") await runGit(folder, ["restore", `--source=${commit}`, "--worktree", "--", "."], options);
  for (const name of deleted.split("\0").filter((one) => one !== ""))
    await rm(join(top, name), { force: true });
  return folder;
}

async function assertSnapshotExists(folder: string, commit: string): Promise<void> {
  const found = await tryGit(folder, ["cat-file", "-t", commit]);
  if (found?.trim() === "commit") return;
  throw new GitError(`the repository of ${folder} no longer contains the snapshot ${commit}`);
}

async function assertClean(folder: string, now: string, snapshots: readonly string[]): Promise<void> {
  const status = await runGit(folder, ["status", "--porcelain", "--", "."]);
  if (status === "") return;
  for (const commit of snapshots) {
    const tree = await tryGit(folder, ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`]);
    if (tree?.trim() === now) return;
  }
  throw new GitError(
    `${folder} has changes that are neither committed nor part of a snapshot: commit or stash them, or restore into a new folder`,
  );
}
