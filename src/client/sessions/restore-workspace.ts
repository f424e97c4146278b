import { isAbsolute } from "node:path";
import {
  chooseWorktreeFolder,
  restoreInPlace,
  restoreToNewWorktree,
} from "../../platform/git/restore-snapshot.ts";
import { GitError } from "../../platform/git/run-git.ts";
import type { BranchPosition } from "../../store/transcript/fork.ts";
import type { WorkspaceSnapshot } from "../../store/transcript/snapshot.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Where the files of a place go: into a new folder beside the repository unless another is named; or where they lay. */
export type RestoreWorkspaceOptions =
  | { readonly to: "folder"; readonly folder?: string }
  | { readonly to: "in-place" };

export type RestoredWorkspace = WorkspaceSnapshot & { readonly commit: string };

/** The newest snapshot at or before a place; an error when there is none. */
export async function findSnapshotAt(
  transcript: Transcript,
  session: string,
  at: BranchPosition,
): Promise<RestoredWorkspace> {
  const [newest] = await transcript.readSnapshots(session, at);
  if (newest?.commit !== undefined) return newest as RestoredWorkspace;
  const reason =
    newest?.problem === undefined
      ? 'none was taken there: the agent\'s definition asks for them with `snapshots: "git"`'
      : `it was not kept at #${newest.at.position}: ${newest.problem}`;
  throw new HoldfastError(
    "input-invalid",
    `The workspace of session ${session} cannot be restored: ${reason}.`,
    { session },
  );
}

/** @param name - Of the new folder, behind the repository's. Gives the folder to work in. */
export async function restoreWorkspace(
  transcript: Transcript,
  session: string,
  { commit, workspace, at }: RestoredWorkspace,
  options: RestoreWorkspaceOptions,
  name: string,
): Promise<string> {
  try {
    if (options.to === "in-place") {
      const branches = await transcript.readBranches(session);
      const all = await Promise.all(
        branches.map(({ id }) =>
          transcript.readSnapshots(session, { branch: id, position: Number.MAX_SAFE_INTEGER }),
        ),
      );
      const commits = [...new Set(all.flat().flatMap((one) => one.commit ?? []))];
      return await restoreInPlace({ commit, workspace }, commits);
    }
    const folder = options.folder ?? (await chooseWorktreeFolder(workspace, name));
    if (!isAbsolute(folder)) throw new GitError(`${folder} is not a full path`);
    return await restoreToNewWorktree({ commit, workspace }, folder);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new HoldfastError(
      "workspace-invalid",
      `The workspace as it was at #${at.position} could not be restored: ${error.message}.`,
      { session, problems: [error.message], cause: error },
    );
  }
}
