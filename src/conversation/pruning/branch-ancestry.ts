import type { ViewSnapshot } from "../../core/view/view.ts";

/** A branch, and where it leaves its parent: everything before that position is the parent's. */
export type BranchNode = {
  readonly id: string;
  readonly parent?: { readonly branch: string; readonly position: number } | undefined;
  /** What deleted loops had left of the entries before this position. */
  readonly inheritedView?: { readonly position: number; readonly view: ViewSnapshot } | undefined;
};

/** Returns the branches whose entries this one shows, itself first, each with the position at which its part ends. */
export function listAncestry(
  branches: readonly BranchNode[],
  branch: string,
): readonly { readonly id: string; readonly until: number }[] {
  const line = [{ id: branch, until: Number.POSITIVE_INFINITY }];
  for (
    let parent = branches.find(({ id }) => id === branch)?.parent;
    parent !== undefined;
    parent = branches.find(({ id }) => id === parent?.branch)?.parent
  ) {
    const until = Math.min(parent.position, line.at(-1)?.until ?? 0);
    line.push({ id: parent.branch, until });
  }
  return line;
}
