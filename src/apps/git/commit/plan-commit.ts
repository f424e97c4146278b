import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { hashEmptyTree } from "../changes/read-change-set.ts";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { findCommit } from "../repository/resolve-commit.ts";
import { runGit, tryGit } from "../repository/run-git.ts";
import { toWritingError, tryWritingGit } from "./run-writing-git.ts";
import type { Signature } from "./signature.ts";

/** What a commit is made from, fixed before its message is written. Plain data, which a run keeps. */
export type CommitPlan = {
  /** The full name of the branch, such as `refs/heads/main`; null if HEAD names a commit. */
  readonly branch: string | null;
  /** The commit that the branch names; null before the first one. */
  readonly head: string | null;
  /** More than one only if a merge is amended. */
  readonly parents: readonly string[];
  /** The tree of the index. Its object is in the repository. */
  readonly tree: string;
  readonly isAmend: boolean;
  /** The author of the commit that is amended, who stays its author. */
  readonly author?: Signature;
};

export type PlannedCommit =
  | { readonly type: "planned"; readonly plan: CommitPlan }
  | {
      readonly type: "refused";
      readonly reason: "unmerged" | "in-progress" | "nothing-staged" | "nothing-to-amend";
      /** What happened, and what to do. */
      readonly message: string;
    };

/** What git is in the middle of while these exist in its folder. A commit would have to end it as git does. */
const OPERATIONS: Readonly<Record<string, string>> = {
  MERGE_HEAD: "a merge",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase",
};

/** Fixes what a commit is made from: the index, and the commit that the branch names now. */
export async function planCommit(
  repository: Repository,
  { isAmend = false }: { readonly isAmend?: boolean } = {},
): Promise<PlannedCommit> {
  const operation = await findOperation(repository);
  if (operation !== undefined)
    return refuse("in-progress", `The repository is in the middle of ${operation}. End it with git first.`);
  const branch = await readBranch(repository);
  const head = (await findCommit(repository, branch ?? "HEAD")) ?? null;
  const amended = isAmend && head !== null ? await readRawCommit(repository, head) : undefined;
  if (isAmend && amended === undefined)
    return refuse("nothing-to-amend", "The branch has no commit yet that could be amended.");
  const tree = await writeIndexTree(repository);
  if (tree === undefined)
    return refuse("unmerged", "The index has files with conflicts. Resolve them, and add them with git add.");
  if (!isAmend && tree === (await readTree(repository, head)))
    return refuse("nothing-staged", "Nothing is staged. Add files with git add.");
  const parents = amended?.parents ?? (head === null ? [] : [head]);
  const author = amended === undefined ? {} : { author: amended.author };
  return { type: "planned", plan: { branch, head, parents, tree, isAmend, ...author } };
}

function refuse(
  reason: Extract<PlannedCommit, { type: "refused" }>["reason"],
  message: string,
): PlannedCommit {
  return { type: "refused", reason, message };
}

async function findOperation({ gitFolder }: Repository): Promise<string | undefined> {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const found = await lstat(join(gitFolder, name)).catch(() => undefined);
    if (found !== undefined) return operation;
  }
  return undefined;
}

/** Returns the branch that HEAD names; null if it names a commit. */
export async function readBranch(repository: Repository): Promise<string | null> {
  const branch = (await tryGit(repository, ["symbolic-ref", "--quiet", "HEAD"]))?.trim();
  if (branch === undefined) return null;
  if (!branch.startsWith("refs/heads/") || branch.includes(".."))
    throw new RepositoryError("unsupported", `HEAD names ${JSON.stringify(branch)}, which is no branch`);
  const other = await tryGit(repository, ["symbolic-ref", "--quiet", branch]);
  if (other === undefined) return branch;
  throw new RepositoryError(
    "unsupported",
    `The branch ${JSON.stringify(branch)} is another name of ${JSON.stringify(other.trim())}; switch to that one`,
  );
}

/** Writes the tree of the index to the objects; undefined if files are unmerged. */
export async function writeIndexTree(repository: Repository): Promise<string | undefined> {
  const result = await tryWritingGit(repository, ["write-tree"]);
  if (result.ok) return result.text;
  const unmerged = await runGit(repository, ["ls-files", "--unmerged", "-z"]);
  if (unmerged.stdout.length > 0) return undefined;
  throw toWritingError("write-tree", result.stderr);
}

/** Returns the tree of a commit, or the tree without files. */
async function readTree(repository: Repository, commit: string | null): Promise<string> {
  if (commit === null) return await hashEmptyTree(repository);
  const { stdout } = await runGit(repository, ["rev-parse", "--verify", `${commit}^{tree}`]);
  return stdout.toString("utf8").trim();
}

/** Reads the commit itself: the parents that git shows end where a shallow clone ends. */
export async function readRawCommit(
  repository: Repository,
  commit: string,
): Promise<{ parents: readonly string[]; author: Signature; committer: Signature }> {
  const { stdout } = await runGit(repository, ["cat-file", "commit", commit]);
  const [header = ""] = stdout.toString("utf8").split("\n\n", 1);
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = ""]) => id);
  return { parents, author: readSignature(header, "author"), committer: readSignature(header, "committer") };
}

function readSignature(header: string, role: "author" | "committer"): Signature {
  const [, name = "", email = "", time = "0", zone = "+0000"] =
    new RegExp(`^${role} (.*?) ?<(.*)> (\\d+) ([+-]\\d{4})$`, "m").exec(header) ?? [];
  return { name, email, time: Number(time), zone };
}
