import type { Repository } from "./repository.ts";
import { RepositoryError } from "./repository-error.ts";
import { tryGit } from "./run-git.ts";

const MAX_REVISION_LENGTH = 250;
const RESOLVE_TIMEOUT_MS = 10_000;

/** Resolves a revision from outside to the id of a commit, the only form in which revisions reach other commands. */
export async function resolveCommit(repository: Repository, revision: string): Promise<string> {
  const id = await findCommit(repository, revision);
  if (id !== undefined) return id;
  throw new RepositoryError(
    "unknown-revision",
    `${JSON.stringify(revision)} is no commit of this repository: name a branch, a tag, or a commit id`,
  );
}

/** The same, undefined if there is none. */
export async function findCommit(repository: Repository, revision: string): Promise<string | undefined> {
  if (revision === "" || revision.length > MAX_REVISION_LENGTH || /[\0\n]/.test(revision)) return undefined;
  const args = ["--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const output = await tryGit(repository, ["rev-parse", ...args], { timeoutMs: RESOLVE_TIMEOUT_MS });
  return /^([0-9a-f]{40}|[0-9a-f]{64})\n$/.exec(output ?? "")?.[1];
}
