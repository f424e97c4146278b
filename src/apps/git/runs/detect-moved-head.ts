import type { Repository } from "../repository/repository.ts";
import { findCommit, resolveCommit } from "../repository/resolve-commit.ts";
import { tryGit } from "../repository/run-git.ts";

/** What a run examines: the change from where the branches part to the head. Ids of commits. */
export type PinnedRange = {
  readonly base: string;
  readonly head: string;
};

export type HeadMove =
  | { readonly type: "unchanged" }
  /** Commits were added. What the run has examined still holds; the difference is `from`..`to`. */
  | { readonly type: "forward"; readonly pinned: PinnedRange; readonly from: string; readonly to: string }
  /** What the run has examined may be gone: everything is examined anew, `from`..`to`. */
  | {
      readonly type: "rewritten";
      readonly pinned: PinnedRange;
      readonly from: string;
      readonly to: string;
      /** `head`: its history is another one. `base`: the branches part elsewhere, by a merge or a rebase. */
      readonly what: "head" | "base";
    };

/**
 * Compares what a run was pinned to with the repository now. Commits that are added to the base alone change nothing: the
 * change is still the same.
 *
 * @param now - The revisions that the run was asked about, such as `main` and `HEAD`.
 */
export async function detectMovedHead(
  repository: Repository,
  pinned: PinnedRange,
  now: { readonly base: string; readonly head: string },
): Promise<HeadMove> {
  const base = await resolveCommit(repository, now.base);
  const head = await resolveCommit(repository, now.head);
  if (base === pinned.base && head === pinned.head) return { type: "unchanged" };
  const from = (await findMergeBase(repository, base, head)) ?? base;
  const moved = { pinned: { base, head }, from, to: head };
  if (head !== pinned.head && !(await isAncestor(repository, pinned.head, head)))
    return { type: "rewritten", ...moved, what: "head" };
  const before = (await findMergeBase(repository, pinned.base, pinned.head)) ?? pinned.base;
  if (from !== before) return { type: "rewritten", ...moved, what: "base" };
  if (head === pinned.head) return { type: "unchanged" };
  return { type: "forward", ...moved, from: pinned.head };
}

/** Returns where two branches part; undefined if they have nothing in common, or one is no longer there. */
async function findMergeBase(
  repository: Repository,
  one: string,
  other: string,
): Promise<string | undefined> {
  return (await tryGit(repository, ["merge-base", one, other]))?.trim();
}

async function isAncestor(repository: Repository, one: string, other: string): Promise<boolean> {
  // A commit that was removed is nobody's ancestor.
  if ((await findCommit(repository, one)) === undefined) return false;
  return (await tryGit(repository, ["merge-base", "--is-ancestor", one, other])) !== undefined;
}
