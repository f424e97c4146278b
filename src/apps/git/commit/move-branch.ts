import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "../repository/repository.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { runWritingGit, toWritingError, tryWritingGit } from "./run-writing-git.ts";

/** A branch, or HEAD itself, that is to name another commit. */
export type Move = {
  /** The full name; null for a HEAD that names a commit. */
  readonly branch: string | null;
  readonly from: string | null;
  readonly to: string;
  /** A line for the log. */
  readonly reason: string;
  /** Who moves it, for the log. */
  readonly environment: Readonly<Record<string, string>>;
};

export type MoveResult =
  | { readonly type: "moved" }
  /** It names another commit than it should. */
  | { readonly type: "elsewhere" }
  /** Another git is writing it, or was killed while it did. */
  | { readonly type: "locked"; readonly lock: string };

/** Moves a branch if it still names the commit that it should: compare and swap. */
export async function moveBranch(repository: Repository, move: Move): Promise<MoveResult> {
  return move.branch === null
    ? await moveDetachedHead(repository, move)
    : await moveReference(repository, move, move.branch);
}

async function moveReference(repository: Repository, move: Move, branch: string): Promise<MoveResult> {
  const { from, to, reason, environment } = move;
  // Zeros: the branch must not exist.
  const expected = from ?? "0".repeat(to.length);
  const args = ["-m", reason, "--no-deref", branch, to, expected];
  const result = await tryWritingGit(repository, ["update-ref", ...args], { environment });
  if (result.ok) return { type: "moved" };
  if (((await findCommit(repository, branch)) ?? null) !== from) return { type: "elsewhere" };
  const lock = join(repository.commonFolder, `${branch}.lock`);
  if (/\.lock': File exists/.test(result.stderr)) return { type: "locked", lock };
  throw toWritingError("update-ref", result.stderr);
}

/** HEAD is a file of the work tree's own. It is written as git does it: under a lock, which becomes the file. */
async function moveDetachedHead(repository: Repository, move: Move): Promise<MoveResult> {
  const { from, to, reason, environment } = move;
  const file = join(repository.gitFolder, "HEAD");
  const lock = `${file}.lock`;
  const handle = await open(lock, "wx").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return undefined;
    throw error;
  });
  if (handle === undefined) return { type: "locked", lock };
  try {
    if ((await readFile(file, "utf8")).trim() !== from) return { type: "elsewhere" };
    await handle.writeFile(`${to}\n`);
    await handle.sync();
    await rename(lock, file);
  } finally {
    await handle.close();
    await rm(lock, { force: true });
  }
  // The HEAD of the isolated folder is a copy; its log is the repository's.
  await runWritingGit(repository, ["update-ref", "-m", reason, "--no-deref", "HEAD", to], { environment });
  return { type: "moved" };
}
