import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { GitError, runGit, tryGit } from "./run-git.ts";
import { findRepository, writeTree } from "./write-tree.ts";

/** Restoring may have many files to write. */
const RESTORE_TIMEOUT_MS = 120_000;

export type RestoreRequest = {
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
export async function restoreToNewWorktree(
  { commit, workspace }: RestoreRequest,
  folder: string,
): Promise<string> {
  const { folder: from, prefix } = await findRepository(workspace);
  if (existsSync(folder)) throw new GitError(`${folder} is there already; name another folder`);
  const options = { timeoutMs: RESTORE_TIMEOUT_MS };
  await assertSnapshotExists(from, commit);
  const parent = (await tryGit(from, ["rev-parse", "--verify", "--quiet", `${commit}^`], options))?.trim();
  await runGit(from, ["worktree", "add", "--detach", folder, parent ?? commit], options);
  await runGit(folder, ["restore", `--source=${commit}`, "--worktree", "--", ":/"], options);
  return resolve(folder, prefix);
}

/** Where a new work tree goes when nobody says so. */
export async function chooseWorktreeFolder(workspace: string, name: string): Promise<string> {
  const { top } = await findRepository(workspace);
  return join(dirname(top), `${basename(top)}-${name}`);
}

/**
 * Puts a snapshot into the workspace itself. Refused unless that is clean: everything in it is committed, or held by one
 * of these snapshots. Index and branches stay as they are.
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
  throw new GitError(`the repository of ${folder} does not hold the snapshot ${commit} any more`);
}

async function assertClean(folder: string, now: string, snapshots: readonly string[]): Promise<void> {
  const status = await runGit(folder, ["status", "--porcelain", "--", "."]);
  if (status === "") return;
  for (const commit of snapshots) {
    const tree = await tryGit(folder, ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`]);
    if (tree?.trim() === now) return;
  }
  throw new GitError(
    `${folder} has changes that are neither committed nor held by a snapshot: commit or stash them, or restore into a new folder`,
  );
}
