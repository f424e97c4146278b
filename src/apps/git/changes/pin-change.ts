import { createHash } from "node:crypto";
import type { Repository } from "../repository/repository.ts";
import { RepositoryError } from "../repository/repository-error.ts";
import { findCommit, resolveCommit } from "../repository/resolve-commit.ts";
import { runGit, tryGit } from "../repository/run-git.ts";
import type { ChangeSource } from "./change-set.ts";
import { hashEmptyTree } from "./read-change-set.ts";

/** The change that a user means, in the user's words. */
export type ChangeRequest =
  | { readonly type: "staged" }
  | {
      readonly type: "commit";
      readonly commit: string;
      /** What is staged belongs to it as well: the commit is amended. */
      readonly withStaged?: boolean;
    }
  | {
      readonly type: "range";
      readonly from: string;
      readonly to: string;
      /** Begins where `to` has left `from`, as a pull request does. */
      readonly fromMergeBase?: boolean;
    };

/** The change at one moment: ids of commits, or what the index has. */
export type PinnedChange = {
  readonly source: ChangeSource;
  /** For staged changes, also those that amend a commit: a hash of their contents, by which a later change is noticed. */
  readonly fingerprint?: string;
  /** As the user has named it. */
  readonly label: string;
};

/** Resolves the commits of a change, so that a branch that moves later does not change what is examined. */
export async function pinChange(repository: Repository, request: ChangeRequest): Promise<PinnedChange> {
  switch (request.type) {
    case "staged": {
      const fingerprint = await hashStagedChanges(repository);
      return { source: { type: "staged" }, fingerprint, label: "staged changes" };
    }
    case "commit": {
      const to = await resolveCommit(repository, request.commit);
      const from = (await findCommit(repository, `${to}^1`)) ?? (await hashEmptyTree(repository));
      const staged = request.withStaged === true ? { fingerprint: await hashStagedChanges(repository) } : {};
      return { source: { type: "commits", from, to }, ...staged, label: `commit ${request.commit}` };
    }
    case "range": {
      const to = await resolveCommit(repository, request.to);
      const start = await resolveCommit(repository, request.from);
      const { fromMergeBase = false } = request;
      const from = fromMergeBase ? await findMergeBase(repository, start, to) : start;
      const label = `${request.from}${fromMergeBase ? "..." : ".."}${request.to}`;
      return { source: { type: "commits", from, to }, label };
    }
  }
}

/** Lists the changes that a pin consists of: what is staged is one of its own beside the commit that it amends. */
export function listSources({ source, fingerprint }: PinnedChange): readonly ChangeSource[] {
  return source.type === "commits" && fingerprint !== undefined ? [source, { type: "staged" }] : [source];
}

/** Reports whether two pins name the same content. */
export function isSameChange(one: PinnedChange, other: PinnedChange): boolean {
  return one.fingerprint === other.fingerprint && JSON.stringify(one.source) === JSON.stringify(other.source);
}

export async function findMergeBase(repository: Repository, one: string, other: string): Promise<string> {
  const found = (await tryGit(repository, ["merge-base", one, other]))?.trim();
  if (found !== undefined && found !== "") return found;
  throw new RepositoryError(
    "unknown-revision",
    `${one} and ${other} have no common ancestor: compare them directly, without a merge base`,
  );
}

async function hashStagedChanges(repository: Repository): Promise<string> {
  const args = ["--cached", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", "-z"];
  const { stdout } = await runGit(repository, ["diff", ...args]);
  return createHash("sha256").update(stdout).digest("hex");
}
