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

/** The target of restored files: the given folder (by default a new one beside the repository), or the original folder. */
export type RestoreWorkspaceOptions =
  | {
      readonly to: "folder";
      /** The folder to restore to; a new one beside the repository by default. */
      readonly folder?: string;
    }
  | { readonly to: "in-place" };

export type RestoredWorkspace = WorkspaceSnapshot & { readonly commit: string };

/** Returns the newest snapshot at or before a position; throws if there is none. */
export async function findSnapshotAt(
  transcript: Transcript,
  session: string,
  at: BranchPosition,
): Promise<RestoredWorkspace> {
  const [newest] = await transcript.readSnapshots(session, at);
  if (newest?.commit !== undefined) return newest as RestoredWorkspace;
  const reason =
    newest?.problem === undefined
      ? 'no snapshot exists there: enable snapshots in the agent\'s definition with `snapshots: "git"`'
      : `the snapshot at #${newest.at.position} was not stored: ${newest.problem}`;
  throw new HoldfastError(
    "input-invalid",
    `The workspace of session ${session} cannot be restored: ${reason}.`,
    { session },
  );
}

/** @param name - The suffix of the new folder, after the repository's name. @returns The folder to work in. */
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
    if (!isAbsolute(folder)) throw new GitError(`${folder} is not an absolute path`);
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
