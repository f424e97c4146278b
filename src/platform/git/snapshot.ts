import { GitError, git, gitOrNothing } from "./run-git.ts";
import { repositoryOf, type TreeBounds, treeOf } from "./tree-of.ts";

export type SnapshotAsked = {
  readonly workspace: string;
  /** A hidden reference that keeps the commit from being collected. */
  readonly ref: string;
  readonly message: string;
  /** The snapshot before this one: nothing is made when the workspace is still as it was then. */
  readonly previous?: string | undefined;
  readonly signal?: AbortSignal;
  readonly bounds?: TreeBounds;
};

export type SnapshotTaken =
  | { readonly type: "taken"; readonly commit: string; readonly ref: string }
  | { readonly type: "unchanged"; readonly commit: string }
  | { readonly type: "none"; readonly problem: string };

/** Keeps what a workspace holds as a commit that no branch knows of. Never throws: what it cannot do, it says. */
export async function takeSnapshot(asked: SnapshotAsked): Promise<SnapshotTaken> {
  const { workspace, ref, message, previous, signal, bounds } = asked;
  const options = signal === undefined ? {} : { signal };
  try {
    const repository = await repositoryOf(workspace, signal);
    const { folder } = repository;
    const tree = await treeOf(repository, { ...options, ...(bounds === undefined ? {} : { bounds }) });
    const head = (
      await gitOrNothing(folder, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], options)
    )?.trim();
    if (previous !== undefined && (await isStill(folder, previous, tree, head, options))) {
      return { type: "unchanged", commit: previous };
    }
    const parents = head === undefined ? [] : ["-p", head];
    const commit = (await git(folder, ["commit-tree", tree, ...parents, "-m", message], options)).trim();
    await git(folder, ["update-ref", ref, commit], options);
    return { type: "taken", commit, ref };
  } catch (error) {
    const problem =
      error instanceof GitError ? error.message : `it cannot be read: ${String(error)}`.slice(0, 300);
    return { type: "none", problem };
  }
}

async function isStill(
  folder: string,
  previous: string,
  tree: string,
  head: string | undefined,
  options: { signal?: AbortSignal },
): Promise<boolean> {
  const said = await gitOrNothing(folder, ["log", "-1", "--format=%T %P", previous, "--"], options);
  return said?.trim() === `${tree} ${head ?? ""}`.trim();
}

/** References of a session; any text can stand in a name. */
export function snapshotRef(session: string, branch: string, position: number): string {
  return `refs/holdfast/${encoded(session)}/${encoded(branch)}/${position}`;
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[.~*!'()]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}
