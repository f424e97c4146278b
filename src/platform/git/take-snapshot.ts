import { omitUndefined } from "../text/omit-undefined.ts";
import { GitError, runGit, tryGit } from "./run-git.ts";
import { findRepository, type TreeBounds, writeTree } from "./write-tree.ts";

export type SnapshotRequest = {
  readonly workspace: string;
  /** The hidden reference that protects the commit from garbage collection. */
  readonly ref: string;
  readonly message: string;
  /** The previous snapshot. No new one is created if the workspace is unchanged. */
  readonly previous?: string | undefined;
  readonly signal?: AbortSignal;
  readonly bounds?: TreeBounds;
};

export type SnapshotResult =
  | { readonly type: "taken"; readonly commit: string; readonly ref: string }
  | { readonly type: "unchanged"; readonly commit: string }
  | { readonly type: "none"; readonly problem: string };

/** Stores the content of a workspace as a commit on no branch. Never throws: problems are part of the result. */
export async function takeSnapshot(request: SnapshotRequest): Promise<SnapshotResult> {
  const { workspace, ref, message, previous, signal, bounds } = request;
  const options = omitUndefined({ signal });
  try {
    const repository = await findRepository(workspace, signal);
    const { folder } = repository;
    const tree = await writeTree(repository, { ...options, ...omitUndefined({ bounds }) });
    const head = (
      await tryGit(folder, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], options)
    )?.trim();
    if (previous !== undefined && (await isUnchanged(folder, previous, tree, head, options))) {
      return { type: "unchanged", commit: previous };
    }
    const parents = head === undefined ? [] : ["-p", head];
    const commit = (await runGit(folder, ["commit-tree", tree, ...parents, "-m", message], options)).trim();
    await runGit(folder, ["update-ref", ref, commit], options);
    return { type: "taken", commit, ref };
  } catch (error) {
    const problem =
      error instanceof GitError ? error.message : `it cannot be read: ${String(error)}`.slice(0, 300);
    return { type: "none", problem };
  }
}

async function isUnchanged(
  folder: string,
  previous: string,
  tree: string,
  head: string | undefined,
  options: { signal?: AbortSignal },
): Promise<boolean> {
  const output = await tryGit(folder, ["log", "-1", "--format=%T %P", previous, "--"], options);
  return output?.trim() === `${tree} ${head ?? ""}`.trim();
}

/** Builds the name of a snapshot's reference. Any text is allowed as a session id. */
export function buildSnapshotRef(session: string, branch: string, position: number): string {
  return `refs/holdfast/${encodeSegment(session)}/${encodeSegment(branch)}/${position}`;
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[.~*!'()]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}
