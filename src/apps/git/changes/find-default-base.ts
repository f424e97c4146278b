import { withRepository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { findCommit } from "../repository/resolve-commit.ts";

/** The branches into which others are usually merged. */
const USUAL = ["main", "master", "origin/HEAD", "origin/main", "origin/master"];

/** Finds the branch into which the current one is probably merged: the first usual one that is at another commit. */
export async function findDefaultBase(folder: string): Promise<string> {
  return await withRepository(folder, {}, async (repository) => {
    const head = await findCommit(repository, "HEAD");
    for (const name of USUAL) {
      const found = await findCommit(repository, name);
      if (found !== undefined && found !== head) return name;
    }
    throw new RepositoryError(
      "unknown-revision",
      `None of ${USUAL.join(", ")} is at another commit than HEAD: name the branch to merge into with --base`,
    );
  });
}
